// A walk is a snapshot: its pages together contain exactly the transactions in its window at its first page, whatever is
// written between them. The test compares walks with a model that keeps every state.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import fc from 'fast-check';
import type { Stores } from '../../src/domain/stores.ts';
import type { StampWindow } from '../../src/domain/transaction.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { EVERYTHING, idOf, newOrganisation, writeTransactions } from './open-test-stores.ts';

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

class Scene {
  readonly #stores: Stores;
  readonly #orgId: number;
  readonly #firstNumber: number;
  readonly #advance: (ms: number) => void;
  readonly stamps: number[] = [];
  state: State = new Map();

  constructor(
    stores: Stores,
    { orgId, firstNumber }: { orgId: number; firstNumber: number },
    advance: (ms: number) => void,
  ) {
    this.#stores = stores;
    this.#orgId = orgId;
    this.#firstNumber = firstNumber;
    this.#advance = advance;
  }

  /** Adds or changes these transactions in one import. */
  async write(numbers: readonly number[], gapMs = 1): Promise<void> {
    this.#advance(gapMs);
    if (numbers.length === 0) return;
    const ids = [...new Set(numbers)].map((number) => idOf(this.#firstNumber + number));
    const stampMs = await writeTransactions(this.#stores, this.#orgId, ids);
    this.stamps.push(stampMs);
    const versions = ids.map((id): [Uuid, Version] => [id, { text: `v1 ${id} ${stampMs}`, stampMs }]);
    this.state = new Map([...this.state, ...versions]);
  }

  /**
   * Walks through a window and calls `between` after every page except the last; returns the walk's contents and the expected
   * contents.
   */
  async walk(window: StampWindow, limit: number, between: () => Promise<void>) {
    const expected = contents(this.state, window);
    const seen: string[] = [];
    let cursor: Uuid | undefined;
    let asOfMs: number | undefined;
    do {
      const query = { orgId: this.#orgId, window, limit, cursor, asOfMs };
      const page = await this.#stores.transactions.page(query);
      asOfMs ??= page.completeThroughMs;
      expect(page.completeThroughMs).toBe(asOfMs);
      const documents = JSON.parse(`[${Buffer.from(page.data)}]`) as { id: Uuid; text: string }[];
      if (cursor !== undefined) expect(documents[0]?.id).toBe(cursor);
      seen.push(...documents.map(({ text }) => text));
      cursor = page.cursor;
      if (cursor !== undefined) await between();
    } while (cursor !== undefined);
    return { seen, expected };
  }
}

describe.each(DATABASES.map((database) => [database.name, database] as const))(
  'a walk on %s',
  (_, database) => {
    let stores: Stores;
    let nowMs = Date.parse('2026-11-14T12:00:00Z');
    let scenes = 0;

    beforeAll(async () => {
      stores = await openStores(await database.create(), CREATE_OPTIONS, () => nowMs);
    });
    afterAll(() => stores.close());

    /** Creates an organisation with its own range of ids. */
    async function newScene(): Promise<Scene> {
      const { id } = await newOrganisation(stores, `scene ${++scenes}`);
      return new Scene(stores, { orgId: id, firstNumber: scenes * 100_000 }, (ms) => {
        nowMs += ms;
      });
    }

    const numbers = fc.array(fc.nat({ max: 40 }), { maxLength: 12 });
    const change = fc.tuple(numbers, fc.constantFrom(1, 1_000, 600_000, 40 * 86_400_000));

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
        await stores.history.purge(nowMs - 86_400_000);
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
