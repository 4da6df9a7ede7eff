import { expect, test } from 'bun:test';
import { expiry } from '../src/browser/catalogue/expiry.ts';

/** Wednesday noon, local time. */
const NOW = new Date(2026, 10, 18, 12, 0, 0);

/** A local time in wire format. */
function wire(day: number, hour: number, minute = 0, month = 10, year = 2026): string {
  return new Date(year, month, day, hour, minute).toISOString().slice(0, 19);
}

test.each([
  ['a moment ago', wire(18, 12), 'has ended', true],
  ['in half a minute', new Date(NOW.getTime() + 30_000).toISOString().slice(0, 19), 'ends in a minute', true],
  ['in 59 minutes', wire(18, 12, 59), 'ends in 59 minutes', true],
  ['tonight', wire(18, 23, 59), 'ends today', true],
  ['at midnight, which is still today', wire(19, 0), 'ends today', true],
  ['just after midnight', wire(19, 0, 1), 'ends tomorrow', true],
  ['the day after tomorrow', wire(20, 9), 'ends in 2 days', true],
  ['in three days', wire(21, 9), 'ends in 3 days', true],
  ['in four days', wire(22, 9), 'ends in 4 days', false],
  ['in thirteen days', wire(1, 9, 0, 11), 'ends in 13 days', false],
  ['in two weeks', wire(2, 9, 0, 11), 'until 2 December', false],
  ['next year', wire(3, 9, 0, 0, 2027), 'until 3 January 2027', false],
])('a deal that ends %s', (_, endDate, words, soon) => {
  expect(expiry(endDate, NOW)).toEqual({ words, soon });
});

test('parses an end date with milliseconds', () => {
  expect(expiry('2100-01-01T00:00:00.500', NOW).words).toMatch(/^until (31 December 2099|1 January 2100)$/);
});
