// The scripts and the style sheet of the pages, built when the first page is asked for. Knows their addresses and
// nothing of what is in them.

import { StaticFile } from '../content/static-file.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { Route } from '../router.ts';
import { type BundlePath, bundle } from './embedded.ts';

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

type Bundles = ReadonlyMap<string, StaticFile>;

export class Assets<Path extends AssetPath> {
  readonly #paths: readonly Path[];
  #bundles: Promise<Bundles> | undefined;

  constructor(paths: readonly Path[]) {
    this.#paths = paths;
  }

  async urls(): Promise<UrlsOf<Path>> {
    const bundles = await this.#bundle();
    return Object.fromEntries(
      this.#paths.map((path) => [path, `${path}?v=${bundles.get(path)?.version}`]),
    ) as UrlsOf<Path>;
  }

  routes(): Route[] {
    return this.#paths.map((path) => ({
      method: 'GET',
      path,
      openToBrowsers: false,
      answer: async (exchange) => answer((await this.#bundle()).get(path), exchange),
    }));
  }

  #bundle(): Promise<Bundles> {
    this.#bundles ??= bundleAll(this.#paths).catch((error) => {
      this.#bundles = undefined;
      throw error;
    });
    return this.#bundles;
  }
}

function answer(file: StaticFile | undefined, exchange: Exchange): Reply {
  if (file === undefined) throw new Error(`${exchange.path} was not bundled`);
  // While a new release is rolled out, a page of one node may ask another node for its assets. That node has other
  // contents, which must not be kept for good under this version.
  const isThisVersion = exchange.search === `v=${file.version}`;
  return file.answer(exchange, isThisVersion ? 'public, max-age=31536000, immutable' : 'no-cache');
}

async function bundleAll(paths: readonly AssetPath[]): Promise<Bundles> {
  return new Map(await Promise.all(paths.map(async (path) => [path, await load(path)] as const)));
}

async function load(path: AssetPath): Promise<StaticFile> {
  const type = path.endsWith('.css') ? 'text/css' : 'text/javascript';
  return new StaticFile(await bundle(path), { 'Content-Type': `${type}; charset=utf-8` });
}
