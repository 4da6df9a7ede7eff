import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { printQuery } from '../src/query.ts';

test('query parameters survive a round trip through formatting and parsing', () => {
  const values = fc.dictionary(fc.stringMatching(/^[a-zA-Z]{1,9}$/), fc.string({ unit: 'binary' }), {
    noNullPrototype: true,
  });
  fc.assert(
    fc.property(values, (given) => {
      expect(Object.fromEntries(new URLSearchParams(printQuery(given)))).toEqual(given);
    }),
  );
});

test('a lone surrogate is sent as a replacement character, as in browsers', () => {
  expect(printQuery({ name: 'a\ud800b' })).toBe(`?${new URLSearchParams({ name: 'a\ud800b' })}`);
});

test.each<[object, string]>([
  [{}, ''],
  [{ cursor: undefined, name: null }, ''],
  [{ limit: 5, name: '' }, '?limit=5&name='],
  [{ from: '2026-11-14T12:00:00.123456789+01:00' }, '?from=2026-11-14T12%3A00%3A00.123456789%2B01%3A00'],
  [{ updatedAtGreaterThan: new Date(0) }, '?updatedAtGreaterThan=1970-01-01T00%3A00%3A00.000Z'],
])('%j is sent as %j', (parameters, query) => {
  expect(printQuery(parameters)).toBe(query);
});
