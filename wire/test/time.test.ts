import { expect, test } from 'bun:test';
import { parseRetryAfterMs } from '../src/time.ts';

const NOW_MS = Date.UTC(2026, 10, 18, 12);

test.each([
  ['120', 120_000],
  [' 30 ', 30_000],
  ['0', 0],
  ['Wed, 18 Nov 2026 12:01:00 GMT', 60_000],
  ['Wed, 18 Nov 2026 11:59:00 GMT', 0],
  ['', undefined],
  ['soon', undefined],
  ['1e9', undefined],
  ['99999999999', undefined],
  [undefined, undefined],
  [null, undefined],
])('Retry-After %p is %p ms', (text, expected) => {
  expect(parseRetryAfterMs(text, NOW_MS)).toBe(expected as number);
});
