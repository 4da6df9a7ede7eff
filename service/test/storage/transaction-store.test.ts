import { describe, expect, spyOn, test } from 'bun:test';
import { newUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { TransactionPage, TransactionQuery } from '../../src/domain/transaction.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { putDocuments, writeDocuments } from '../support/put-documents.ts';
import {
  documentOf,
  EVERYTHING,
  idOf,
  newIds,
  newOrganisation,
  openTestStores,
  readAllTransactions,
  rejection,
  textsOf,
  writeTransactions,
} from './open-test-stores.ts';
import { ROWS_A_COMMIT, startProcess } from './other-process.ts';

const open = openTestStores();

/** More than two batches of an export. */
const MANY = 2_001;

describe.each(DATABASES)('transactions on $name', (database) => {
  const newStores = () => open.scene(database, 1_000_000);

  /** Writes rows with the given stamps, like a history load. */
  async function load(stores: Stores, orgId: number, stamps: ReadonlyMap<Uuid, number>): Promise<void> {
    const rows = [...stamps].map(([id, updatedAtMs]) => ({
      ...{ id, updatedAtMs },
      document: documentOf(id, `at ${updatedAtMs}`),
    }));
    await writeDocuments(stores.transactions, orgId, rows);
  }

  async function page(
    stores: Stores,
    query: Partial<TransactionQuery> & { orgId: number },
  ): Promise<Omit<TransactionPage, 'data'> & { texts: string[] }> {
    const { data, ...rest } = await stores.transactions.page({ window: EVERYTHING, limit: 100, ...query });
    return { texts: textsOf({ data }), ...rest };
  }

  describe('the change clock', () => {
    test('stamps increase with every commit, even if the wall clock jumps back and forth or the database is reopened', async () => {
      const { url, stores, orgId, pass } = await newStores();
      const stamps = [];
      for (const ms of [0, 0, -100_000, 1_100_000, -1_000_000]) {
        pass(ms);
        stamps.push(await writeTransactions(stores, orgId, newIds(1)));
      }
      const reopened = await open.stores(url, COMMAND_OPTIONS, () => 500_000);
      stamps.push(await writeTransactions(reopened, orgId, newIds(1)));

      expect(stamps).toEqual([1_000_001, 1_000_002, 1_000_003, 2_000_000, 2_000_001, 2_000_002]);
      expect((await page(stores, { orgId })).completeThroughMs).toBe(2_000_002);
    });

    test('a write that throws changes neither the change clock nor any row', async () => {
      const { stores, orgId } = await newStores();
      const [id] = newIds(1) as [Uuid];
      const stampMs = await writeTransactions(stores, orgId, [id], 'old');
      const before = await page(stores, { orgId });

      const failing = stores.transactions.write(orgId, async (writer) => {
        // So large that the next put writes it to the database.
        await putDocuments(writer, [{ id, document: documentOf(id, 'new'.repeat(7_000_000)) }]);
        await putDocuments(writer, [{ id: newUuid(), document: '{}' }]);
        throw new Error('the last line of the file is broken');
      });

      await expect(failing).rejects.toThrow('the last line of the file is broken');
      expect(before).toEqual({
        texts: [`old ${id} ${stampMs}`],
        cursor: undefined,
        completeThroughMs: stampMs,
      });
      expect(await page(stores, { orgId })).toEqual(before);
      expect(await writeTransactions(stores, orgId, newIds(1))).toBe(stampMs + 1);
    });

    test('writers never use the same stamp, and a reader that sees the change clock at C sees every row with a stamp up to C', async () => {
      const { url, stores, orgId } = await open.scene(database);
      const [moving] = newIds(1) as [Uuid];
      const handles = await Promise.all([open.stores(url), open.stores(url), open.stores(url)]);

      /** Number of rows after each commit, by stamp. Set only once the commit is done. */
      const rowsAt = new Map<number, number>();
      let rows = 0;
      const writers = handles.map(async (handle) => {
        for (let i = 0; i < 40; i++) {
          let total = 0;
          const stampMs = await handle.transactions.write(orgId, async (writer) => {
            const ids = [...newIds(3), moving];
            await putDocuments(
              writer,
              ids.map((id) => ({ id, document: documentOf(id, String(writer.stampMs)) })),
            );
            rows += 3;
            total = rows + 1;
            return writer.stampMs;
          });
          rowsAt.set(stampMs, total);
        }
      });
      const done = Promise.all(writers).then(() => true);
      const pages: Awaited<ReturnType<typeof page>>[] = [];
      while (!(await Promise.race([done, Bun.sleep(0)])))
        pages.push(await page(stores, { orgId, limit: 1_000 }));
      pages.push(await page(stores, { orgId, limit: 1_000 }));

      expect(rowsAt.size).toBe(3 * 40);
      const seen = pages.filter(({ texts }) => texts.length > 0);
      expect(seen.length).toBeGreaterThan(1);
      expect(seen.map(({ texts }) => texts.length)).toEqual(
        seen.map(({ completeThroughMs }) => rowsAt.get(completeThroughMs) ?? -1),
      );
      expect(seen.map(({ texts }) => Math.max(...texts.map(Number)))).toEqual(
        seen.map(({ completeThroughMs }) => completeThroughMs),
      );
    });
  });

  test('a process killed at any moment keeps every reported commit and no partial commit', async () => {
    const { url, stores, orgId } = await open.scene(database);
    const reported: Uuid[] = [];

    for (const commits of [1, 3, 7]) {
      const other = startProcess('keep-writing', url, String(orgId));
      for (let i = 0; i < commits; i++) reported.push(...((await other.next<Uuid[]>()) ?? []));
      other.child.kill('SIGKILL');
      reported.push(...(await other.rest<Uuid[]>()).reports.flat());

      // Take the lock, to wait for a commit of the killed process that the database may still be finishing.
      await stores.transactions.write(orgId, async () => {});
      const kept = (await readAllTransactions(stores, orgId)).map(({ id }) => id);
      expect(reported.filter((id) => !kept.includes(id))).toEqual([]);
      expect(kept.length % ROWS_A_COMMIT).toBe(0);
    }
    expect(reported.length).toBeGreaterThanOrEqual(11 * ROWS_A_COMMIT);
  });

  test.each([999, 1_000, 1_001, MANY])(
    'an export of %d transactions contains each transaction once, in id order',
    async (count) => {
      const { stores, orgId } = await newStores();
      const ids = newIds(count);
      const stampMs = await writeTransactions(stores, orgId, ids.toReversed());
      await writeTransactions(stores, (await newOrganisation(stores, 'other')).id, newIds(3));
      expect(await readAllTransactions(stores, orgId)).toEqual(
        ids.map((id) => ({ id, document: documentOf(id, `v1 ${id} ${stampMs}`) })),
      );
    },
  );

  test('an export sees one snapshot even if writes commit between its batches', async () => {
    const { url, stores, orgId } = await newStores();
    const writing = await open.stores(url);
    const ids = newIds(MANY);
    await writeTransactions(stores, orgId, ids, 'old');
    const texts = new Set<string>();
    let count = 0;
    await stores.transactions.read(orgId, async (batch) => {
      await writeTransactions(writing, orgId, [...ids.slice(-10), newUuid()], 'new');
      for (const { document } of batch) texts.add(/"(old|new) /.exec(document)?.[1] ?? document);
      count += batch.length;
    });
    expect({ texts, count }).toEqual({ texts: new Set(['old']), count: MANY });
  });

  test('organisations may use the same ids, and never see or change the transactions of others', async () => {
    const { stores, orgId } = await newStores();
    const other = await newOrganisation(stores, 'other');
    const put = (org: number, updatedAtMs: number, text: string) =>
      writeDocuments(stores.transactions, org, [
        { id: idOf(1), updatedAtMs, document: JSON.stringify({ id: idOf(1), text, passbackUid: 'user' }) },
      ]);
    const contents = async (org: number) => [
      await page(stores, { orgId: org }),
      await page(stores, { orgId: org, window: { minMs: 1, maxMs: 1_000 }, asOfMs: 1_000 }),
      await page(stores, { orgId: org, passbackUid: 'user', asOfMs: 1_000 }),
      await stores.transactions.find(org, idOf(1)),
      await readAllTransactions(stores, org),
    ];
    await put(other.id, 10, 'theirs');
    await put(other.id, 30, 'theirs, changed');
    const before = await contents(other.id);
    await put(orgId, 11, 'mine');
    await put(orgId, 31, 'mine, changed');
    await stores.erasures.erase({ id: orgId, name: 'acme' }, 'user');
    expect(await contents(other.id)).toEqual(before);
    expect((await readAllTransactions(stores, orgId))[0]?.document).toContain('mine, changed');
    const versions = await stores.history.versions(idOf(1));
    expect(versions.map(({ orgName, fromMs }) => [orgName, fromMs])).toEqual([
      ['acme', 1_000_002],
      ['acme', 31],
      ['acme', 11],
      ['other', 30],
      ['other', 10],
    ]);
  });

  test('a writer finds only the transactions of its organisation, and new ids that others use', async () => {
    const { stores, orgId } = await newStores();
    const other = await newOrganisation(stores, 'other');
    await load(stores, orgId, new Map([[idOf(1), 10]]));
    await load(stores, other.id, new Map([[idOf(2), 20]]));
    const document = documentOf(idOf(1), 'at 10');
    await stores.transactions.write(orgId, async (writer) => {
      expect([...(await writer.find([idOf(1), idOf(2), idOf(3)])).values()]).toEqual([
        {
          id: idOf(1),
          orgId,
          updatedAtMs: 10,
          document,
          importId: null,
          sourceUpdatedAtMs: null,
          retailerId: null,
        },
      ]);
    });
    const ids = [idOf(3), idOf(4), idOf(2)];
    const used = new Set([idOf(2)]);
    expect(await stores.transactions.write(orgId, (writer) => writer.findUsed(ids))).toEqual(used);
    // However many other organisations there are.
    for (const name of ['third', 'fourth']) await newOrganisation(stores, name);
    expect(await stores.transactions.write(orgId, (writer) => writer.findUsed(ids))).toEqual(used);
    expect(await stores.transactions.writeAll((writers) => writers.findUsed(ids))).toEqual(used);
  });

  test("a write to several organisations ends each replaced version at its own organisation's stamp", async () => {
    const { stores, orgId } = await newStores();
    const other = await newOrganisation(stores, 'other');
    await load(stores, orgId, new Map([[idOf(1), 10]]));
    await load(stores, other.id, new Map([[idOf(2), 2_000_000]]));
    await stores.transactions.writeAll(async ({ of }) => {
      for (const [org, id] of [
        [orgId, idOf(1)],
        [other.id, idOf(2)],
      ] as const) {
        const writer = of(org);
        if (writer === undefined) throw new Error('the organisation does not exist');
        await putDocuments(writer, [{ id, document: documentOf(id, 'v2') }]);
      }
    });
    const stamps = async (id: Uuid) =>
      (await stores.history.versions(id)).map(({ fromMs, untilMs }) => [fromMs, untilMs]);
    expect([await stamps(idOf(1)), await stamps(idOf(2))]).toEqual([
      [
        [1_000_001, null],
        [10, 1_000_001],
      ],
      [
        [2_000_001, null],
        [2_000_000, 2_000_001],
      ],
    ]);
  });
});

describe.each(DATABASES.filter(({ name }) => name === 'PostgreSQL'))('writers on $name', ({ create }) => {
  test('writers for different organisations do not wait for each other', async () => {
    const stores = await open.stores(await create());
    const [a, b] = [await newOrganisation(stores, 'a'), await newOrganisation(stores, 'b')];
    // If b had to wait for a, this would never end: a waits for b.
    await stores.transactions.write(a.id, async (writer) => {
      await putDocuments(writer, [{ id: newUuid(), document: '{}' }]);
      await writeTransactions(stores, b.id, newIds(1));
    });
    expect(await readAllTransactions(stores, b.id)).toHaveLength(1);
  });

  test('a writer that waits too long for another writer fails with a busy error', async () => {
    const url = await create();
    const stores = await open.stores(url);
    const impatient = await open.stores(url, { ...COMMAND_OPTIONS, lockTimeoutMs: 50 });
    const { id } = await newOrganisation(stores);
    const error = await stores.transactions.write(id, () =>
      rejection(writeTransactions(impatient, id, newIds(1))),
    );
    expect(error).toMatchObject({ kind: 'busy' });
    expect(error.message).toBe('another process is writing to the database; try again when it has finished');
  });
});

// Both databases behave the same, and SQLite is cheaper to test.
describe.each(DATABASES.filter(({ name }) => name === 'SQLite'))('a large write on $name', ({ create }) => {
  test('a write to many organisations collects garbage as often as a write of the same size to one organisation', async () => {
    const stores = await open.stores(await create());
    const orgIds: number[] = [];
    for (const name of ['a', 'b', 'c', 'd']) orgIds.push((await newOrganisation(stores, name)).id);
    const document = JSON.stringify({ text: 'x'.repeat(5_000_000) });
    const collect = spyOn(Bun, 'gc');
    try {
      await stores.transactions.writeAll(async ({ of }) => {
        for (const writer of orgIds.map(of).filter((each) => each !== undefined))
          await putDocuments(writer, [{ id: newUuid(), document }]);
      });
      expect(collect).toHaveBeenCalledTimes(1);
    } finally {
      collect.mockRestore();
    }
    for (const id of orgIds)
      expect((await readAllTransactions(stores, id)).map((row) => row.document === document)).toEqual([true]);
  });
});
