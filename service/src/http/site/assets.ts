// Scripts and style sheets of the pages, each built on its first request.

import { StaticFile } from '../content/static-file.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { Route } from '../router.ts';
import { type BundlePath, bundle } from './embedded.ts';
import { once } from './file-route.ts';

/** For addresses whose contents never change. */
export const IMMUTABLE = 'public, max-age=31536000, immutable';

type AssetPath = Extract<BundlePath, `/assets/${string}`>;

/** Of the pages that everybody may see. */
export const SITE_ASSETS = [
  '/assets/catalogue.js',
  '/assets/reference.js',
  '/assets/site.css',
] as const satisfies readonly AssetPath[];

/** Where a page finds each asset: its path, and the version that makes a change a new address. */
export type UrlsOf<Path extends AssetPath> = Readonly<Record<Path, string>>;
export type AssetUrls = UrlsOf<(typeof SITE_ASSETS)[number]>;

export function openAssets<Path extends AssetPath>(paths: readonly Path[]) {
  const files = paths.map((path) => ({ path, load: once(() => load(path)) }));
  return {
    async urls(): Promise<UrlsOf<Path>> {
      const urls = files.map(
        async ({ path, load }) => [path, `${path}?v=${(await load()).version}`] as const,
      );
      return Object.fromEntries(await Promise.all(urls)) as UrlsOf<Path>;
    },
    routes: files.map(({ path, load }): Route => {
      return {
        method: 'GET',
        path,
        openToBrowsers: false,
        answer: async (exchange) => answer(await load(), exchange),
      };
    }),
  };
}

function answer(file: StaticFile, exchange: Exchange): Reply {
  // While a new release is rolled out, a page of one node may ask another node for its assets. That node has other
  // contents, which must not be kept for good under this version.
  const isThisVersion = exchange.search === `v=${file.version}`;
  return file.answer(exchange, isThisVersion ? IMMUTABLE : 'no-cache');
}

/** One of the bundles as browsers load it. */
export async function load(
  path: BundlePath,
  headers: Readonly<Record<string, string>> = {},
): Promise<StaticFile> {
  const type = path.endsWith('.css') ? 'text/css' : 'text/javascript';
  return new StaticFile(await bundle(path), { 'Content-Type': `${type}; charset=utf-8`, ...headers });
}
