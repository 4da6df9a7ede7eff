// Builds the scripts, style sheets and client library that the service serves from other workspaces, and reads the guides. In a
// checkout, each is built on its first request. In the npm package and the executable, service/scripts/program.ts replaces this module with the
// results of its functions. Other files in the service must not read repository files by path.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, parse } from 'node:path';
import { GUIDE_FILES } from '@offerbook/site/docs/guides/guides.ts';

const ROOT = join(import.meta.dir, '../../../..');

const SOURCES = {
  '/assets/catalogue.js': '@offerbook/site/browser/catalogue/explorer.ts',
  '/assets/reference.js': '@offerbook/site/browser/reference/main.ts',
  '/assets/site.css': '@offerbook/site/styles/site.css',
  '/assets/console.js': '@offerbook/site/browser/console/main.ts',
  '/assets/console.css': '@offerbook/site/styles/console.css',
  '/client/offerbook-client.js': '@offerbook/client',
  '/client/offerbook-client-webhooks.js': '@offerbook/client/webhooks',
} as const;

export type BundlePath = keyof typeof SOURCES;

export const BUNDLE_PATHS = Object.keys(SOURCES) as BundlePath[];

/** Bundles and minifies a script or style sheet. Takes about 20 ms. */
export async function bundle(path: BundlePath): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [Bun.resolveSync(SOURCES[path], import.meta.dir)],
    target: 'browser',
    minify: true,
  });
  const [output] = outputs;
  if (output === undefined) throw new Error(`${path} has no output`);
  return output.text();
}

/** Returns the text of each document that is a guide, by its path from the repository root. */
export async function readDocuments(): Promise<Readonly<Record<string, string>>> {
  const texts = GUIDE_FILES.map(async (file) => [file, await readFile(join(ROOT, file), 'utf8')] as const);
  return Object.fromEntries(await Promise.all(texts));
}

/**
 * Runs `npm pack` on the client. Returns the name and version, such as `offerbook-client-0.2.0`, and the tarball. Takes about two
 * seconds; needs the development dependencies.
 */
export async function packClient() {
  const folder = await mkdtemp(join(tmpdir(), 'offerbook-client-'));
  try {
    const script = join(ROOT, 'client/scripts/pack.ts');
    const pack = Bun.spawn([process.execPath, script, folder], {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
    });
    const complaint = await new Response(pack.stderr).text();
    if ((await pack.exited) !== 0) throw new Error(`packing the client failed: ${complaint.trim()}`);
    const [name = ''] = await readdir(folder);
    return { name: parse(name).name, content: new Uint8Array(await readFile(join(folder, name))) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
