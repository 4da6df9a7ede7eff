// The scripts and the style sheet of the pages, built when the first page is asked for. Knows their addresses and
// nothing of what is in them.

import { StaticFile } from '../content/static-file.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { Route } from '../router.ts';
import { BUNDLE_PATHS, type BundlePath, bundle } from './embedded.ts';

type AssetPath = Extract<BundlePath, `/assets/${string}`>;
const PATHS = BUNDLE_PATHS.filter((path): path is AssetPath => path.startsWith('/assets/'));

/** Where a page finds each asset: its path, and the version that makes a change a new address. */
export type AssetUrls = Readonly<Record<AssetPath, string>>;

type Bundles = ReadonlyMap<string, StaticFile>;

export class Assets {
  #bundles: Promise<Bundles> | undefined;

  async urls(): Promise<AssetUrls> {
    const bundles = await this.#bundle();
    return Object.fromEntries(
      PATHS.map((path) => [path, `${path}?v=${bundles.get(path)?.version}`]),
    ) as AssetUrls;
  }

  routes(): Route[] {
    return PATHS.map((path) => ({
      method: 'GET',
      path,
      openToBrowsers: false,
      answer: async (exchange) => answer((await this.#bundle()).get(path), exchange),
    }));
  }

  #bundle(): Promise<Bundles> {
    this.#bundles ??= bundleAll().catch((error) => {
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

async function bundleAll(): Promise<Bundles> {
  return new Map(await Promise.all(PATHS.map(async (path) => [path, await load(path)] as const)));
}

async function load(path: AssetPath): Promise<StaticFile> {
  const type = path.endsWith('.css') ? 'text/css' : 'text/javascript';
  return new StaticFile(await bundle(path), { 'Content-Type': `${type}; charset=utf-8` });
}
