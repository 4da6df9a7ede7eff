// A route whose file is built on the first request.

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

/** Calls `make` once. A rejected promise is kept too, because a failing build must not run on every request. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
