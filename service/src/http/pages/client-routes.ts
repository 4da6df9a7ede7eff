// Routes for this release's client library: the npm package, ES modules for browsers and Deno, and the type declarations.

import { ApiError } from '../../domain/api-errors.ts';
import { staticFile } from '../content/static-file.ts';
import type { Route } from '../router.ts';
import { fileRoute, IMMUTABLE, load, once, openRoute } from './assets.ts';
import { packClient } from './embedded.ts';

const CLIENT_PACKAGE_PATH = '/client/offerbook-client.tgz';
/** Served modules, each with its declaration file. */
const MODULES = {
  '/client/offerbook-client.js': 'index.d.ts',
  '/client/offerbook-client-webhooks.js': 'webhooks.d.ts',
} as const;
const TYPES_PATH = '/client/types/';

/** A short lifetime, because the next release has the same URL. */
const SHORT_LIVED = { cacheControl: 'public, max-age=300', openToBrowsers: true };

/** All routes are open to other origins, because browsers load modules with CORS. */
export function clientRoutes(): Route[] {
  const packed = once(openPackage);
  return [
    ...(Object.keys(MODULES) as (keyof typeof MODULES)[]).map((path) =>
      fileRoute(path, SHORT_LIVED, () => load(path, { 'X-TypeScript-Types': TYPES_PATH + MODULES[path] })),
    ),
    openRoute(`${TYPES_PATH}{file}`, async (exchange) => {
      const text = (await packed()).declarations.get(exchange.parameters.file ?? '');
      if (text === undefined) throw new ApiError('not_found', 'The client has no such declaration file.');
      const headers = { 'Content-Type': 'application/typescript; charset=utf-8' };
      return staticFile(text, headers).answer(exchange, SHORT_LIVED.cacheControl);
    }),
    openRoute(CLIENT_PACKAGE_PATH, async ({ origin }) => {
      const headers = new Headers({ Location: origin + (await packed()).path, 'Cache-Control': 'no-cache' });
      return { status: 302, headers, body: null };
    }),
    openRoute('/client/{file}', async (exchange) => {
      const { path, file } = await packed();
      if (exchange.path === path) return file.answer(exchange, IMMUTABLE);
      throw new ApiError('not_found', `This service hosts one version of the client, at ${path}.`);
    }),
  ];
}

async function openPackage() {
  const { name, content } = await packClient();
  const file = staticFile(content, { 'Content-Type': 'application/gzip' });
  return {
    /** Contains a hash of the contents, so the URL in a package-lock.json always returns the same bytes. */
    path: `/client/${name}-${file.version}.tgz`,
    file,
    /** Declaration files by name, such as `index.d.ts`. */
    declarations: await readDeclarations(content),
  };
}

/** Reads the declaration files and rewrites their imports: compilers resolve `.js` to `.d.ts` only for local files. */
async function readDeclarations(content: Uint8Array<ArrayBuffer>): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const [path, file] of await new Bun.Archive(content).files()) {
    const [, name] = /^package\/dist\/esm\/([\w-]+\.d\.ts)$/.exec(path) ?? [];
    if (name === undefined) continue;
    found.set(name, (await file.text()).replaceAll(/(from '\.\/[\w-]+)\.js'/g, "$1.d.ts'"));
  }
  return found;
}
