import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { everyOffer, firstPassing, offersAmong } from '../../src/catalogue/search/offer-filter.ts';

const COUNT = 200;

/** Few, many or nearly all offers. */
const passing = fc
  .tuple(
    fc.constantFrom(0.02, 0.1, 0.5, 0.95),
    fc.array(fc.float({ noNaN: true, min: 0, max: 1 }), { minLength: COUNT, maxLength: COUNT }),
  )
  .map(([density, draws]) => draws.flatMap((draw, offer) => (draw < density ? [offer] : [])));

test('any number of filters, sparse and dense, let through what passes all of them, whichever leads', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(passing, fc.nat(COUNT)), { maxLength: 6 }),
      fc.nat(COUNT),
      fc.nat(COUNT),
      fc.integer({ min: 1, max: 20 }),
      (filters, begin, end, limit) => {
        const expected = Array.from({ length: COUNT }, (_, offer) => offer)
          .filter((offer) => offer >= begin && offer < end)
          .filter((offer) => filters.every(([offers]) => offers.includes(offer)))
          .slice(0, limit);
        const all = filters.map(([offers, work]) => ({ ...offersAmong(Uint32Array.from(offers)), work }));
        expect(firstPassing([everyOffer(COUNT), ...all], { begin, end }, limit)).toEqual(expected);
      },
    ),
    { numRuns: 500 },
  );
});
