import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { systemClock } from '../../src/domain/clock.ts';
import { Refused } from '../../src/domain/errors.ts';
import type { Organisation, Stores } from '../../src/domain/stores.ts';
import { IMPORT_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { EVERYTHING, idOf, newOrganisation, readAllTransactions, rejection } from './open-test-stores.ts';

const [sqlite] = DATABASES.filter(({ name }) => name === 'SQLite');

describe('a write in a thread of its own', () => {
  let path: string;
  let stores: Stores;
  let org: Organisation;
  let other: Organisation;

  beforeAll(async () => {
    const url = (await sqlite?.create()) ?? '';
    path = url.slice('sqlite:'.length);
    stores = await openStores(url, IMPORT_OPTIONS, systemClock);
    org = await newOrganisation(stores, 'acme');
    other = await newOrganisation(stores, 'other');
  });

  afterAll(() => stores.close());

  const page = async () => {
    const { completeThroughMs } = await stores.transactions.page({
      orgId: org.id,
      cursor: undefined,
      window: EVERYTHING,
      limit: 1,
    });
    const all = await readAllTransactions(stores, org.id);
    return { documents: all.map(({ document }) => document), completeThroughMs };
  };

  const row = (n: number, document: string, updatedAtMs: number) => ({ id: idOf(n), updatedAtMs, document });

  test('keeps all rows and the clock when the work returns, and hands on what it returned', async () => {
    const stampMs = await stores.transactions.write(org.id, async (writer) => {
      for (let n = 0; n < 20; n++) {
        await writer.put([
          row(2 * n, `{"n":${2 * n},"ü":"日本"}`, writer.stampMs),
          row(2 * n + 1, '{}', writer.stampMs),
        ]);
      }
      await writer.advanceClock(writer.stampMs);
      return writer.stampMs;
    });
    expect(await page()).toEqual({
      documents: Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? `{"n":${n},"ü":"日本"}` : '{}')),
      completeThroughMs: stampMs,
    });
  });

  test('finds what there was when it began', async () => {
    const found = await stores.transactions.write(org.id, (writer) => writer.find([idOf(0), idOf(99)]));
    expect([...found.values()].map(({ id, orgId, document }) => ({ id, orgId, document }))).toEqual([
      { id: idOf(0), orgId: org.id, document: '{"n":0,"ü":"日本"}' },
    ]);
  });

  test('finds the same while much waits to be written, and nothing where there is nothing', async () => {
    const [idle, busy, none] = await stores.transactions.write(org.id, async (writer) => {
      const ids = [idOf(1), idOf(0), idOf(99)];
      const first = await writer.find(ids);
      const puts = Array.from({ length: 20 }, (_, n) => writer.put([row(100 + n, '{}', writer.stampMs)]));
      const [second, nothing] = await Promise.all([writer.find(ids), writer.find([idOf(98)]), ...puts]);
      return [first, second, nothing];
    });
    expect([...(idle?.keys() ?? [])].sort()).toEqual([idOf(0), idOf(1)]);
    expect(busy).toEqual(idle as typeof busy);
    expect(none).toEqual(new Map());
  });

  test('changes nothing when the work throws, and lets the next one write at once', async () => {
    const before = await page();
    const failure = new Error('bad row');
    const write = stores.transactions.write(org.id, async (writer) => {
      await writer.put([row(0, '{"changed":true}', writer.stampMs)]);
      await writer.advanceClock(writer.stampMs);
      throw failure;
    });
    expect(await write.catch((error) => error)).toBe(failure);
    expect(await page()).toEqual(before);
    await stores.transactions.write(org.id, async () => undefined);
  });

  test('fails as it would without a thread, and changes nothing', async () => {
    const before = await page();
    const write = stores.transactions.write(other.id, async (writer) => {
      await writer.put([row(0, '{"stolen":true}', writer.stampMs), row(500, '{}', writer.stampMs)]);
    });
    const error = await write.catch((reason) => reason);
    expect(error).toBeInstanceOf(Refused);
    expect(error.message).toBe('another organisation has just imported a transaction with one of these ids');
    expect(await page()).toEqual(before);
  });

  test('has undone everything when the error is told, so that another process may write', async () => {
    const rows = Array.from({ length: 20_000 }, (_, n) => 1_000 + n);
    const write = stores.transactions.write(org.id, async (writer) => {
      await writer.put(rows.map((n) => row(n, '{}', writer.stampMs)));
      throw new Error('bad row');
    });
    expect((await rejection(write)).message).toBe('bad row');
    const another = new Database(path);
    expect(() => another.run('BEGIN IMMEDIATE')).not.toThrow();
    another.run('ROLLBACK');
    another.close();
  });

  test('lets only a few batches wait, so that memory does not grow with the file', async () => {
    let batches = 0;
    const write = stores.transactions.write(other.id, async (writer) => {
      // So long that it is written with the next batch, which fails.
      await writer.put([row(0, 'x'.repeat(20_000_000), writer.stampMs)]);
      for (; batches < 1_000; batches++) await writer.put([row(500, '{}', writer.stampMs)]);
    });
    expect(await rejection(write)).toBeInstanceOf(Refused);
    expect(batches).toBeLessThan(30);
  });
});
