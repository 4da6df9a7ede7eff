import { describe, expect, test } from 'bun:test';
import postgres from 'postgres';
import type { Stores } from '../../src/domain/stores.ts';
import { allowedMs } from '../support/allowed-ms.ts';
import { DATABASES } from '../support/databases.ts';
import { newPostgresDatabase } from '../support/postgres-server.ts';
import { newOrganisation, openTestStores } from './open-test-stores.ts';
import { startProcess } from './other-process.ts';

/** What the interface promises of a commit by another process. */
const PROMISED_MS = 1_000;

/** Resolves when a callback finds the catalogue at this revision. */
function catalogueReaches(stores: Stores, revision: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = stores.watch(() => {
      stores.revisions().then(({ catalogue }) => {
        if (catalogue !== revision) return;
        stop();
        resolve();
      }, reject);
    });
  });
}

for (const database of DATABASES) {
  describe(`watching on ${database.name}`, () => {
    const open = openTestStores();

    test('a commit by another process is called back within a second', async () => {
      const url = await database.create();
      const stores = await open.stores(url);
      const other = startProcess('change-catalogue', url);

      for (const revision of [1, 2, 3]) {
        const reached = catalogueReaches(stores, revision);
        other.child.stdin.write('go\n');
        other.child.stdin.flush();
        expect(await other.next<string>()).toBe('changed');
        const committedMs = performance.now();
        await reached;
        expect(performance.now() - committedMs).toBeLessThan(allowedMs(PROMISED_MS));
      }
      other.child.stdin.end();
      expect((await other.rest()).exitCode).toBe(0);
    });

    test('a watcher that was stopped is not called any more, and stopping twice is harmless', async () => {
      const url = await database.create();
      const stores = await open.stores(url);
      const writing = await open.stores(url);
      let calls = 0;
      const stop = stores.watch(() => {
        calls++;
      });
      stop();
      stop();
      const before = calls;
      const reached = catalogueReaches(stores, 1);
      await writing.catalogue.write((writer) => writer.markChanged());
      await reached;
      expect(calls).toBe(before);
    });
  });
}

describe('watching on PostgreSQL', () => {
  const open = openTestStores();

  test('a commit that changes the catalogue or the tokens wakes those who listen, who need not look', async () => {
    const url = await newPostgresDatabase();
    const stores = await open.stores(url);
    const { id: orgId } = await newOrganisation(stores);
    const listener = postgres(url, { max: 1 });
    try {
      let woken = Promise.withResolvers<void>();
      await listener.listen('offerbook', () => woken.resolve());
      for (const change of [
        () => stores.catalogue.write((writer) => writer.markChanged()),
        () => stores.tokens.add({ orgId, kind: 'public', label: '', digest: 'd', expiresAtMs: null }),
      ]) {
        woken = Promise.withResolvers<void>();
        await change();
        await woken.promise;
      }
    } finally {
      await listener.end();
    }
  });

  test('the listening connection comes back after it was lost', async () => {
    const url = await newPostgresDatabase();
    const stores = await open.stores(url);
    const admin = open.database(url);
    const listening = async () =>
      (
        await admin.all<{ pid: number }>(
          `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen %'`,
        )
      ).map(({ pid }) => pid);
    /** Looks with every callback, of which there are some every second. */
    const listener = (accept: (pid: number) => boolean) =>
      new Promise<number>((resolve, reject) => {
        const stop = stores.watch(() => {
          listening().then((pids) => {
            const pid = pids.find(accept);
            if (pid === undefined) return;
            stop();
            resolve(pid);
          }, reject);
        });
      });

    const stop = stores.watch(() => {});
    const lost = await listener(() => true);
    await admin.all('SELECT pg_terminate_backend($1)', lost);
    const found = await listener((pid) => pid !== lost);

    expect(await listening()).toEqual([found]);
    const reached = catalogueReaches(stores, 1);
    await stores.catalogue.write((writer) => writer.markChanged());
    await reached;
    stop();
  });
});
