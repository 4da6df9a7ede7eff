// The query of a request. Written by hand: URLSearchParams lacks `size` in browsers of 2023, and most of its methods
// in React Native.

import { printTime } from './timestamp.ts';

/** Starts with `?`, or is empty. What is undefined or null is left out. */
export function printQuery(parameters: object): string {
  const pairs = Object.entries<string | number | Date | null | undefined>({ ...parameters }).flatMap(
    ([name, value]) => (value == null ? [] : [`${encode(name)}=${encode(printValue(value))}`]),
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function printValue(value: string | number | Date): string {
  return typeof value === 'number' ? String(value) : printTime(value);
}

/** Half of a surrogate pair is no character: encodeURIComponent throws at it, and a search should find nothing instead. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\ufffd'));
}
