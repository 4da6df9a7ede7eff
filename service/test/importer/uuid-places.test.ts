import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Uuid } from '../../src/domain/uuid.ts';
import { UuidPlaces } from '../../src/importer/uuid-places.ts';

test('it agrees with a Map about every id and its first place', () => {
  // Few distinct ids, so that many are added twice.
  const uuid = fc.oneof(
    fc.uuid(),
    fc.nat(50).map((n) => `00000000-0000-0000-0000-${n.toString(16).padStart(12, '0')}`),
    fc.nat(50).map((n) => `${n.toString(16).padStart(8, 'f')}-ffff-ffff-ffff-ffffffffffff`),
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(uuid, fc.nat(), fc.option(fc.integer({ min: 1, max: 9 }))), { maxLength: 200 }),
      (steps) => {
        const places = new UuidPlaces();
        const model = new Map<string, { line: number; item: number | undefined }>();
        for (const [id, line, item] of steps) {
          const place = { line, item: item ?? undefined };
          expect(places.get(id as Uuid)).toEqual(model.get(id));
          expect(places.add(id as Uuid, place)).toEqual(model.get(id));
          if (!model.has(id)) model.set(id, place);
          expect(places.has(id as Uuid)).toBe(true);
        }
        expect(places.size).toBe(model.size);
        for (const [id, place] of model) expect(places.get(id as Uuid)).toEqual(place);
      },
    ),
    { numRuns: 100 },
  );
});

test('a hundred thousand ids, in a row and at random, are all found again', () => {
  const ids = Array.from({ length: 100_000 }, (_, n) =>
    n % 2 === 0 ? `0192d1a0-0000-7000-8000-${n.toString(16).padStart(12, '0')}` : crypto.randomUUID(),
  ) as Uuid[];
  const places = new UuidPlaces();
  for (const [index, id] of ids.entries()) expect(places.add(id, { line: index + 1 })).toBeUndefined();
  expect(ids.every((id, index) => places.get(id)?.line === index + 1)).toBe(true);
  expect(places.has('0192d1a0-0000-7000-8000-ffffffffffff' as Uuid)).toBe(false);
});
