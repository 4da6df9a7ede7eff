import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { firstIndex } from '../../src/catalogue/tables/ascending.ts';

test('firstIndex agrees with a linear search in lists of any length', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 20 })),
      fc.integer({ min: -1, max: 21 }),
      (some, wanted) => {
        const ascending = some.toSorted((a, b) => a - b);
        const plain = ascending.findIndex((value) => value >= wanted);
        const found = firstIndex(ascending.length, (index) => (ascending[index] as number) >= wanted);
        expect(found).toBe(plain < 0 ? ascending.length : plain);
      },
    ),
  );
});
