// A route that builds its file on the first request and serves the same file from then on.

import type { StaticFile } from '../content/static-file.ts';
import type { Route } from '../router.ts';

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

/** Calls `make` once and keeps its promise, even a rejected one: a build that fails must not run again on every request. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
