// The route of a file that is made when it is first asked for, and is the same from then on.

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

/** A failure stays: in a checkout that cannot make something, it is not tried again with every request. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
