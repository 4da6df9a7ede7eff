// A walk is a snapshot: its pages together contain exactly the transactions in its window at its first page, whatever is
// written between them. The test compares walks with a model that keeps every state.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { DAY_MS } from '@offerbook/wire/time.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import fc from 'fast-check';
import type { StampWindow } from '../../src/domain/transaction.ts';
import { DATABASES } from '../support/databases.ts';
import {
  EVERYTHING,
  idOf,
  newOrganisation,
  openTestStores,
  rowsOf,
  writeTransactions,
} from './open-test-stores.ts';

interface Version {
  readonly text: string;
  readonly stampMs: number;
}

/** The expected contents of the database: the current version of every id. */
type State = ReadonlyMap<Uuid, Version>;

function contents(state: State, { minMs, maxMs }: StampWindow): string[] {
  return [...state]
    .filter(([, { stampMs }]) => stampMs >= minMs && stampMs <= maxMs)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { text }]) => text);
}

describe.each(DATABASES.map((database) => [database.name, database] as const))(
  'a walk on %s',
  (_, database) => {
    const open = openTestStores(afterAll);
    let shared: Awaited<ReturnType<typeof open.scene>>;
    let scenes = 0;

    beforeAll(async () => {
      shared = await open.scene(database, Date.parse('2026-11-14T12:00:00Z'));
    });

    /** Creates an organisation with its own range of ids. */
    async function newScene() {
      const { stores, pass } = shared;
      const { id: orgId } = await newOrganisation(stores, `scene ${++scenes}`);
      const firstNumber = scenes * 100_000;
      const stamps: number[] = [];
      let state: State = new Map();
      return {
        stamps,
        /** Adds or changes these transactions in one import. */
        async write(numbers: readonly number[], gapMs = 1): Promise<void> {
          pass(gapMs);
          if (numbers.length === 0) return;
          const ids = [...new Set(numbers)].map((number) => idOf(firstNumber + number));
          const stampMs = await writeTransactions(stores, orgId, ids);
          stamps.push(stampMs);
          const versions = ids.map((id): [Uuid, Version] => [id, { text: `v1 ${id} ${stampMs}`, stampMs }]);
          state = new Map([...state, ...versions]);
        },
        /**
         * Walks through a window and calls `between` after every page except the last; returns the walk's contents and the
         * expected contents.
         */
        async walk(window: StampWindow, limit: number, between: () => Promise<void>) {
          const expected = contents(state, window);
          const seen: string[] = [];
          let cursor: Uuid | undefined;
          let asOfMs: number | undefined;
          do {
            const page = await stores.transactions.page({ orgId, window, limit, cursor, asOfMs });
            asOfMs ??= page.completeThroughMs;
            expect(page.completeThroughMs).toBe(asOfMs);
            const rows = rowsOf<{ id: Uuid; text: string }>(page);
            if (cursor !== undefined) expect(rows[0]?.id).toBe(cursor);
            seen.push(...rows.map(({ text }) => text));
            cursor = page.cursor;
            if (cursor !== undefined) await between();
          } while (cursor !== undefined);
          return { seen, expected };
        },
      };
    }
    type Scene = Awaited<ReturnType<typeof newScene>>;

    const numbers = fc.array(fc.nat({ max: 40 }), { maxLength: 12 });
    const change = fc.tuple(numbers, fc.constantFrom(1, 1_000, 600_000, 40 * DAY_MS));

    test('a walk shows the state at its first page, regardless of imports between its pages', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(change, { maxLength: 8 }),
          fc.array(change, { maxLength: 8 }),
          fc.tuple(fc.nat(), fc.nat(), fc.constantFrom('all', 'from', 'until', 'both')),
          fc.integer({ min: 1, max: 7 }),
          async (before, meanwhile, [first, second, kind], limit) => {
            const scene = await newScene();
            for (const [some, gapMs] of before) await scene.write(some, gapMs);
            const { stamps } = scene;
            const bound = (choice: number) => stamps[choice % Math.max(1, stamps.length)] ?? 0;
            const [low, high] = [bound(first), bound(second)].sort((a, b) => a - b) as [number, number];
            const window = {
              minMs: kind === 'from' || kind === 'both' ? low : EVERYTHING.minMs,
              maxMs: kind === 'until' || kind === 'both' ? high : EVERYTHING.maxMs,
            };
            const changes = [...meanwhile];
            const { seen, expected } = await scene.walk(window, limit, async () => {
              const next = changes.shift();
              if (next !== undefined) await scene.write(...next);
            });
            expect(seen).toEqual(expected);
          },
        ),
        { numRuns: database.name === 'SQLite' ? 40 : 10 },
      );
    });

    const many = Array.from({ length: 3_000 }, (_, i) => i);

    /** Walks through several windows concurrently, and writes after the first page of each. */
    async function walkAll(write: (scene: Scene) => Promise<void>): Promise<void> {
      const scene = await newScene();
      for (const [first, last] of [
        [0, 100],
        [100, 1_500],
        [1_500, many.length],
      ])
        await scene.write(many.slice(first, last));
      const [narrow = 0, middle = 0] = scene.stamps;
      const windows = [
        EVERYTHING,
        { minMs: EVERYTHING.minMs, maxMs: middle },
        { minMs: narrow + 1, maxMs: EVERYTHING.maxMs },
        { minMs: narrow, maxMs: narrow },
        { minMs: narrow, maxMs: middle },
      ];
      let begun = 0;
      const written = Promise.withResolvers<void>();
      const walks = windows.map((window) =>
        scene.walk(window, 75, async () => {
          if (++begun === windows.length) await write(scene).then(written.resolve, written.reject);
          await written.promise;
        }),
      );
      for (const [i, { seen, expected }] of (await Promise.all(walks)).entries()) {
        expect(expected.length).toBeGreaterThan(75);
        expect({ window: i, seen }).toEqual({ window: i, seen: expected });
      }
    }

    test('a walk keeps its state while old history is purged', () =>
      walkAll(async (scene) => {
        await scene.write(many.filter((number) => number % 2 === 0));
        await shared.stores.history.purge(shared.clock() - DAY_MS);
        await scene.write(many.filter((number) => number % 3 === 0));
      }));

    test('a walk shows the versions that one large import has replaced, and none that it has added', () =>
      walkAll((scene) => scene.write([...many, ...many.map((number) => number + 5_000)])));

    test('a walk shows the versions that more than a hundred small imports have replaced, some repeatedly', () =>
      walkAll(async (scene) => {
        for (let step = 0; step < 105; step++)
          await scene.write([0, 1, 2, 3, 4, 5].map((place) => (step * 7 + place * place * 400) % 3_100));
      }));

    test('a walk shows the versions that a large import among many small ones has replaced', () =>
      walkAll(async (scene) => {
        for (let step = 0; step < 10; step++) await scene.write([step, step + 1_000, step + 2_000]);
        await scene.write(many.filter((number) => number % 2 === 0));
        for (let step = 0; step < 10; step++) await scene.write([step, step + 500, step + 4_000]);
        await scene.write(many);
      }));

    // Which imports a page reads does not depend on the database.
    if (database !== DATABASES[0]) return;

    test('a walk shows the versions that more than a hundred imports of more than 10,000 rows have replaced', () =>
      walkAll(async (scene) => {
        // The last imports are the first to change the last hundred rows.
        for (let step = 0; step < 105; step++)
          await scene.write(
            Array.from({ length: 100 }, (_, i) => (step < 102 ? (step * 100 + i) % 2_900 : 2_900 + i)),
          );
      }));
  },
);
