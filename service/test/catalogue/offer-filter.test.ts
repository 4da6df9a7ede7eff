import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { everyOffer, firstPassing, type OfferFilter } from '../../src/catalogue/search/offer-filter.ts';
import { ascendingArray } from '../../src/catalogue/tables/ascending.ts';

const COUNT = 60;

/** Few, many or nearly all offers, and ways to go through them that bring some others, too. */
const filter = fc
  .tuple(
    fc.constantFrom(0.1, 0.5, 0.95),
    fc.array(fc.float({ noNaN: true, min: 0, max: 1 }), { minLength: COUNT, maxLength: COUNT }),
    fc.boolean(),
    fc.nat(100),
  )
  .map(([density, draws, isExact, work]) => {
    const passing = new Set(draws.flatMap((draw, offer) => (draw < density ? [offer] : [])));
    const gone = Uint32Array.from({ length: COUNT }, (_, offer) => offer).filter(
      (offer) => passing.has(offer) || (!isExact && offer % 3 === 0),
    );
    const filter: OfferFilter = {
      work,
      offers: () => ascendingArray(gone),
      passes: (offer) => passing.has(offer),
    };
    return { filter, passing };
  });

test('any combination of sparse and dense filters returns the offers that match all of them', () => {
  fc.assert(
    fc.property(
      fc.array(filter, { maxLength: 6 }),
      fc.nat(COUNT),
      fc.nat(COUNT),
      fc.integer({ min: 1, max: 20 }),
      (filters, begin, end, limit) => {
        const expected = Array.from({ length: COUNT }, (_, offer) => offer)
          .filter((offer) => offer >= begin && offer < end)
          .filter((offer) => filters.every(({ passing }) => passing.has(offer)))
          .slice(0, limit);
        const all = filters.map(({ filter }) => filter);
        expect(firstPassing([everyOffer(COUNT), ...all], { begin, end }, limit)).toEqual(expected);
      },
    ),
    { numRuns: 500 },
  );
});
