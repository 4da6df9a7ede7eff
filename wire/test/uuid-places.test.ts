import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { UuidPlaces } from '../src/rows/uuid-places.ts';
import type { Uuid } from '../src/uuid.ts';

test('UuidPlaces returns the same first position for every id as a Map', () => {
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
        for (const [id, place] of model) expect(places.get(id as Uuid)).toEqual(place);
      },
    ),
    { numRuns: 100 },
  );
});

test('UuidPlaces finds all of 30,000 sequential and random ids', () => {
  const ids = Array.from({ length: 30_000 }, (_, n) =>
    n % 2 === 0 ? `0192d1a0-0000-7000-8000-${n.toString(16).padStart(12, '0')}` : crypto.randomUUID(),
  ) as Uuid[];
  const places = new UuidPlaces();
  expect(ids.every((id, index) => places.add(id, { line: index + 1 }) === undefined)).toBe(true);
  expect(ids.every((id, index) => places.get(id)?.line === index + 1)).toBe(true);
  expect(places.has('0192d1a0-0000-7000-8000-ffffffffffff' as Uuid)).toBe(false);
});

test('ids crafted to collide need about as many reads as random ids', () => {
  const others = Array.from({ length: 2_000 }, () => crypto.randomUUID() as Uuid);
  const crafted = others.map((_, n) => collidingId(n));
  // Scanning every id in the shared slot would need a hundred times as many.
  expect(readsToAdd(crafted)).toBeLessThan(5 * readsToAdd(others));
});

/** How often adding these ids reads from one of its arrays. */
function readsToAdd(ids: readonly Uuid[]): number {
  let reads = 0;
  const { Uint32Array: Real } = globalThis;
  const count = (array: Uint32Array) =>
    new Proxy(array, {
      get(target, key) {
        reads++;
        return Reflect.get(target, key);
      },
    });
  globalThis.Uint32Array = new Proxy(Real, { construct: (_, [length]) => count(new Real(length)) });
  try {
    const places = new UuidPlaces();
    for (const [index, id] of ids.entries()) places.add(id, { line: index + 1 });
  } finally {
    globalThis.Uint32Array = Real;
  }
  return reads;
}

/** An id whose hash is always 0: its last word cancels the hash of the others. Assumes an initial hash of 0. */
function collidingId(n: number): Uuid {
  const MULTIPLIER = 0x9e3779b1;
  const words = [n, 0x7000_8000, Math.imul(n, 7)];
  const last = words.reduce((hash, word) => {
    const mixed = Math.imul(hash ^ word, MULTIPLIER);
    return mixed ^ (mixed >>> 15);
  }, 0);
  const hex = [...words, last].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') as Uuid;
}
