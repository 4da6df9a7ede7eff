// Build configuration shared by the npm package and the executable, so that their contents cannot differ: entry points and
// embedded files.

import { basename, join } from 'node:path';
import type { BuildConfig, BunPlugin } from 'bun';
import * as embedded from '../src/http/pages/embedded.ts';

export const SERVICE = join(import.meta.dir, '..');
const SOURCE = join(SERVICE, 'src');

/** Entry points of worker threads. The bundler cannot find these files by itself, because threads are started by URL. */
const THREADS = [...new Bun.Glob('**/*-thread.ts').scanSync({ cwd: SOURCE, absolute: true })].sort();

/** Returns the bundler options. `main` is the program's entry point. */
export async function programConfig(main: string): Promise<BuildConfig> {
  const commit = readCommit();
  embedding ??= embed();
  return {
    entrypoints: [main, ...THREADS],
    target: 'bun',
    // Without splitting, each thread would contain a copy of everything, and each command would load all others.
    splitting: true,
    // Put all output files in one folder: `new URL('./worker-thread', import.meta.url)` can end up in any of them and
    // must find the thread's file beside it.
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]' },
    define: commit === undefined ? {} : { OFFERBOOK_COMMIT: JSON.stringify(commit) },
    plugins: [await embedding],
  };
}

/** The plugin of all builds. */
let embedding: Promise<BunPlugin> | undefined;

/** Returns the plugin that replaces embedded.ts with the output of its functions. */
async function embed(): Promise<BunPlugin> {
  const bundles = await Promise.all(
    embedded.BUNDLE_PATHS.map(async (path) => [path, await embedded.bundle(path)] as const),
  );
  const { name, content } = await embedded.packClient();
  const base64 = Buffer.from(content).toString('base64');
  const contents = `
    const BUNDLES = ${JSON.stringify(Object.fromEntries(bundles))};
    export const BUNDLE_PATHS = Object.keys(BUNDLES);
    export const bundle = async (path) => BUNDLES[path];
    export const readDocuments = async () => (${JSON.stringify(await embedded.readDocuments())});
    export const packClient = async () => ({ name: '${name}', content: Uint8Array.fromBase64('${base64}') });`;
  return {
    name: 'embed',
    setup(build) {
      build.onLoad({ filter: /\/service\/src\/http\/pages\/embedded\.ts$/ }, () => ({
        contents,
        loader: 'js',
      }));
    },
  };
}

/** Returns the checkout's commit; undefined if git cannot report one, as in an unpacked archive. */
function readCommit(): string | undefined {
  if (Bun.which('git') === null) return undefined;
  const git = (...args: string[]) => {
    const { success, stdout } = Bun.spawnSync(['git', ...args], { cwd: SERVICE, stderr: 'ignore' });
    return success ? stdout.toString().trim() : undefined;
  };
  const commit = git('rev-parse', '--short=12', 'HEAD');
  if (commit === undefined) return undefined;
  return git('status', '--porcelain') === '' ? commit : `${commit}, modified`;
}

// All threads end up in one folder, so their file names must be unique.
const names = THREADS.map((path) => basename(path));
if (new Set(names).size !== names.length)
  throw new Error(`two threads have the same file name: ${names.join(', ')}`);
