// The program as the npm package and the executable have it: which files it starts from, and what is put into it. Both
// builds go through here, so that one has nothing that the other lacks.

import { basename, join } from 'node:path';
import type { BuildConfig, BunPlugin } from 'bun';
import * as embedded from '../src/http/site/embedded.ts';

export const SERVICE = join(import.meta.dir, '..');
const SOURCE = join(SERVICE, 'src');

/** The files of threads, by their names: a thread is started by the URL of its file, which no bundler follows. */
const THREADS = [...new Bun.Glob('**/*-thread.ts').scanSync({ cwd: SOURCE, absolute: true })].sort();

/** What both builds are told. `main` is the file that the program starts with. */
export async function programConfig(main: string): Promise<BuildConfig> {
  const commit = readCommit();
  return {
    entrypoints: [main, ...THREADS],
    target: 'bun',
    // Without it each thread would have a copy of everything, and every command would be loaded with each.
    splitting: true,
    // In one folder, whichever folders the sources are in: `new URL('./worker-thread', import.meta.url)` is in code
    // that may end up in any of the files, and means the one beside it.
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]' },
    define: commit === undefined ? {} : { OFFERBOOK_COMMIT: JSON.stringify(commit) },
    plugins: [await embed()],
  };
}

let embedding: Promise<BunPlugin> | undefined;

/** Puts what embedded.ts makes in its place. Made once, for whatever is built. */
function embed(): Promise<BunPlugin> {
  embedding ??= makePlugin();
  return embedding;
}

async function makePlugin(): Promise<BunPlugin> {
  const bundles = await Promise.all(
    embedded.BUNDLE_PATHS.map(async (path) => [path, await embedded.bundle(path)] as const),
  );
  const client = Buffer.from(await embedded.packClient()).toString('base64');
  const contents = `
    const BUNDLES = ${JSON.stringify(Object.fromEntries(bundles))};
    export const BUNDLE_PATHS = Object.keys(BUNDLES);
    export const bundle = async (path) => BUNDLES[path];
    export const packClient = async () => Uint8Array.fromBase64('${client}');`;
  return {
    name: 'embed',
    setup(build) {
      build.onLoad({ filter: /\/service\/src\/http\/site\/embedded\.ts$/ }, () => ({
        contents,
        loader: 'js',
      }));
    },
  };
}

/** The commit of the checkout, undefined where there is no git to ask, as in an unpacked archive. */
function readCommit(): string | undefined {
  const git = (...args: string[]) => {
    const { success, stdout } = Bun.spawnSync(['git', ...args], { cwd: SERVICE, stderr: 'ignore' });
    return success ? stdout.toString().trim() : undefined;
  };
  const commit = git('rev-parse', '--short=12', 'HEAD');
  if (commit === undefined) return undefined;
  return git('status', '--porcelain') === '' ? commit : `${commit}, modified`;
}

/** Names are all that is left of the folders, so there must not be two of a kind. */
const names = THREADS.map((path) => basename(path));
if (new Set(names).size !== names.length) throw new Error(`two threads have one name: ${names.join(', ')}`);
