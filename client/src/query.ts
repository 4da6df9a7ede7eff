// Builds query strings without URLSearchParams, which lacks `size` in browsers from 2023 and most methods in React
// Native.

import { printTime } from './timestamp.ts';

/** Returns a query that starts with `?`, or an empty string. Omits undefined and null values. */
export function printQuery(parameters: object): string {
  const pairs = Object.entries<string | number | Date | null | undefined>({ ...parameters }).flatMap(
    ([name, value]) => (value == null ? [] : [`${encode(name)}=${encode(printValue(value))}`]),
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function printValue(value: string | number | Date): string {
  return typeof value === 'number' ? String(value) : printTime(value);
}

/** encodeURIComponent throws on a lone surrogate. Replace it, so that such a search finds nothing instead. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\ufffd'));
}
