import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { describeMisspelling } from '../../src/http/operations/unknown-parameter.ts';

const KNOWN = ['cursor', 'limit', 'name', 'category', 'country'];

/** The parameter that the error suggests. */
function suggested(given: string): string | undefined {
  return /^is not a parameter; (\w+) is$/.exec(describeMisspelling(given, KNOWN) ?? '')?.[1];
}

describe('the suggested parameter', () => {
  test.each([
    ['contry', 'country'],
    ['COUNTRY', 'country'],
    ['coutnry', 'country'],
    ['countryx', 'country'],
    ['xcountry', 'country'],
    ['countrz', 'country'],
    ['mane', undefined],
    ['nmae', 'name'],
    ['catgory', 'category'],
    ['', undefined],
    ['_', undefined],
    ['n', undefined],
    ['utm_source', undefined],
    ['name[]', 'name'],
    ['cate_gory', 'category'],
    ['na-mes', 'name'],
    ['name[in]', undefined],
  ] as const)('the suggestion for %j is %p', (given, meant) => {
    expect(suggested(given)).toBe(meant as string);
  });

  test('a parameter is suggested for any single typo', () => {
    const errors = fc.oneof(
      fc.record({ kind: fc.constantFrom('drop' as const, 'swap' as const), letter: fc.constant('') }),
      fc.record({
        kind: fc.constantFrom('add' as const, 'change' as const),
        letter: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz_'),
      }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...KNOWN), fc.nat(7), errors, (name, place, { kind, letter }) => {
        const at = place % (name.length - 1);
        const [before, after] = [name.slice(0, at), name.slice(at)];
        const typed = {
          drop: before + after.slice(1),
          swap: before + (after[1] ?? '') + (after[0] ?? '') + after.slice(2),
          add: before + letter + after,
          change: before + letter + after.slice(1),
        }[kind];
        expect(suggested(typed)).toBe(name);
      }),
    );
  });

  test('no parameter is suggested if the names differ by more than one typo', () => {
    const distance = (a: string, b: string): number => {
      const rows = Array.from({ length: a.length + 1 }, (_, i) => [i, ...Array(b.length).fill(0)]);
      for (let j = 0; j <= b.length; j++) (rows[0] as number[])[j] = j;
      for (let i = 1; i <= a.length; i++)
        for (let j = 1; j <= b.length; j++)
          (rows[i] as number[])[j] = Math.min(
            ((rows[i - 1] as number[])[j] as number) + 1,
            ((rows[i] as number[])[j - 1] as number) + 1,
            ((rows[i - 1] as number[])[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1),
          );
      return (rows[a.length] as number[])[b.length] as number;
    };
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'nameli'), maxLength: 7 }), (given) => {
        // This distance counts a swap of neighbours as two changes.
        fc.pre(KNOWN.every((name) => distance(given, name) > 2));
        expect(suggested(given)).toBeUndefined();
      }),
    );
  });
});
