// Routes for files that are built on their first request, such as scripts and style sheets.

import { type StaticFile, staticFile } from '../content/static-file.ts';
import type { Route } from '../router.ts';
import { type BundlePath, bundle } from './embedded.ts';

/** Cache-Control for URLs whose contents never change. */
export const IMMUTABLE = 'public, max-age=31536000, immutable';

type AssetPath = Extract<BundlePath, `/assets/${string}`>;

/** The public site's assets. */
export const SITE_ASSETS = [
  '/assets/catalogue.js',
  '/assets/reference.js',
  '/assets/site.css',
] as const satisfies readonly AssetPath[];

export function openAssets<Path extends AssetPath>(paths: readonly Path[]) {
  const files = paths.map((path) => ({ path, load: once(() => load(path)) }));
  return {
    /** Returns the URL of each asset. A URL contains a version, so changed contents get a new URL. */
    async urls() {
      const urls = files.map(
        async ({ path, load }) => [path, `${path}?v=${(await load()).version}`] as const,
      );
      return Object.fromEntries(await Promise.all(urls)) as Readonly<Record<Path, string>>;
    },
    routes: files.map(({ path, load }): Route => {
      return {
        method: 'GET',
        path,
        openToBrowsers: false,
        async answer(exchange) {
          const file = await load();
          // During a rolling update, a page can request its assets from a node that runs a different release. Clients must not
          // cache that node's contents forever under this version.
          const isThisVersion = exchange.search === `v=${file.version}`;
          return file.answer(exchange, isThisVersion ? IMMUTABLE : 'no-cache');
        },
      };
    }),
  };
}

export async function load(
  path: BundlePath,
  headers: Readonly<Record<string, string>> = {},
): Promise<StaticFile> {
  const type = path.endsWith('.css') ? 'text/css' : 'text/javascript';
  return staticFile(await bundle(path), { 'Content-Type': `${type}; charset=utf-8`, ...headers });
}

/** A route that pages of any origin can read. */
export function openRoute(path: string, answer: Route['answer']): Route {
  return { method: 'GET', path, openToBrowsers: true, answer };
}

/** A route whose file is built on the first request. */
export function fileRoute(
  path: string,
  { cacheControl, openToBrowsers }: { readonly cacheControl: string; readonly openToBrowsers: boolean },
  make: () => Promise<StaticFile>,
): Route {
  const file = once(make);
  return {
    method: 'GET',
    path,
    openToBrowsers,
    answer: async (exchange) => (await file()).answer(exchange, cacheControl),
  };
}

/** Calls `make` once. A rejected promise is kept too, because a failing build must not run on every request. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
