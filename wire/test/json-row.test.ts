import { expect, test } from 'bun:test';
import { parseJsonRow, parseJsonText } from '../src/rows/json-row.ts';
import { TRANSACTION_LIMITS } from '../src/rows/row-limits.ts';

const LIMITS = { bytes: 1024, values: 50, names: 50, depth: 4 };

function problemOf(value: unknown): string | undefined {
  return parseJsonText(JSON.stringify(value), { line: 1 }, LIMITS).problem?.reason;
}

test.each([
  // The nearest double of these numbers has only 15 digits.
  '9007199254741011e-15',
  '9.007199254741011',
  '-9.007199254741011',
  '0.30000000000000001',
  '1e-400',
])('the number %s is not rounded, but parsed as infinity', (literal) => {
  for (const text of [`{"n":${literal}}`, `{"n": ${literal} }`, `{"n":[1,${literal}]}`]) {
    const { value } = parseJsonText(text, { line: 1 }, TRANSACTION_LIMITS);
    expect([(value as { n: unknown }).n].flat().at(-1)).toBe(Number.POSITIVE_INFINITY);
  }
});

test('a row may be nested up to the depth limit, and may contain any number of brackets', () => {
  expect(problemOf([[[[]]]])).toBeUndefined();
  expect(problemOf([[[[[]]]]])).toBe('is nested more than 4 levels deep');
  expect(problemOf({ a: { b: { c: { d: {} } } } })).toBe('is nested more than 4 levels deep');
  expect(problemOf([[], [], [], [], [], {}])).toBeUndefined();
});

test('the size of a row is measured in UTF-8 bytes', () => {
  expect(problemOf('€'.repeat(340))).toBeUndefined();
  expect(problemOf('€'.repeat(341))).toBe('is longer than 1 KiB');
  expect(problemOf('x'.repeat(1_022))).toBeUndefined();
  expect(problemOf('x'.repeat(1_023))).toBe('is longer than 1 KiB');
});

test('a row that is not UTF-8 keeps its value, so messages can contain its id', () => {
  const bytes = Buffer.from('{"id":"1","name":"k\u{e4}se"}', 'latin1');
  expect(parseJsonRow(bytes, { line: 1 }, LIMITS)).toMatchObject({
    value: { id: '1' },
    problem: { reason: 'is not UTF-8' },
  });
});
