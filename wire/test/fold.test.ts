import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { fold } from '../src/fold.ts';

test.each([
  ['café', 'CAFE'],
  ['cafe\u0301', 'Café'],
  ['Straße', 'STRASSE'],
  ['MAẞE', 'masse'],
  ['οδος', 'ΟΔΟσ'],
  ['İstanbul', 'istanbul'],
  ['ﬁne', 'FINE'],
  ['Ａｂｃ', 'abc'],
  ['Łódź', 'LODZ'],
  ['Ærø', 'aero'],
  ['đỗ', 'DO'],
  ['Œuvre', 'oeuvre'],
  ['ᾳ', 'α'],
  ['Ёлка', 'елка'],
  ['й', 'и\u0306'],
  ['ﾊﾞｽ', 'バス'],
  ['각', '\u1100\u1161\u11a8'],
  ['שָׁלוֹם', 'שלום'],
  ['مُحَمَّد', 'محمد'],
  ['❤\ufe0f', '❤'],
])('%p and %p fold to the same string', (a, b) => {
  expect(fold(a)).toBe(fold(b));
});

test.each([
  ['a', 'b'],
  ['%', '_'],
  ['oe', 'ø'],
  ['a b', 'ab'],
  ['バス', 'パス'],
  ['バス', 'ハス'],
  ['काम', 'कम'],
  ['ปู', 'ปี'],
  ['мой', 'мои'],
  ['ӗ', 'е'],
])('%p and %p fold to different strings', (a, b) => {
  expect(fold(a)).not.toBe(fold(b));
});

test('composed and decomposed forms of a string fold to the same result', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(fold(text.normalize('NFC'))).toBe(fold(text.normalize('NFD')));
    }),
    { numRuns: 500 },
  );
});
