import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { fold } from '../../src/catalogue/search/fold.ts';

test.each([
  ['café', 'CAFE'],
  ['cafe\u0301', 'Café'],
  ['Straße', 'STRASSE'],
  ['MAẞE', 'masse'],
  ['ὈΔΌΣ', 'οδοσ'],
  ['οδος', 'ΟΔΟσ'],
  ['İstanbul', 'istanbul'],
  ['ﬁne', 'FINE'],
  ['Ａｂｃ', 'abc'],
  ['Ñandú', 'nandu'],
  ['Łódź', 'LODZ'],
  ['Ærø', 'aero'],
  ['Øl', 'ol'],
  ['đỗ', 'DO'],
  ['Œuvre', 'oeuvre'],
])('%p and %p are the same', (a, b) => {
  expect(fold(a)).toBe(fold(b));
});

test.each([
  ['a', 'b'],
  ['%', '_'],
  ['*', ''],
  ['oe', 'ø'],
  ['a b', 'ab'],
])('%p and %p are different', (a, b) => {
  expect(fold(a)).not.toBe(fold(b));
});

test('folding twice changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(fold(fold(text))).toBe(fold(text));
    }),
    { numRuns: 500 },
  );
});
