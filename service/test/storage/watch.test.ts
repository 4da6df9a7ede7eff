import { describe, expect, test } from 'bun:test';
import type { Stores } from '../../src/domain/stores.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { raiseRevision } from '../../src/storage/stores/revision.ts';
import { DATABASES } from '../support/databases.ts';
import { newPostgresSchema } from '../support/postgres-server.ts';
import { until } from '../support/until.ts';
import { openTestStores } from './open-test-stores.ts';

const open = openTestStores();

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

describe.each(DATABASES)('watching on $name', (database) => {
  test('every commit over another connection triggers the callback', async () => {
    const { url, stores } = await open.scene(database);
    const writing = await open.stores(url);
    let calls = 0;
    const stop = stores.watch(() => {
      calls++;
    });
    // The first poll always counts as a change.
    await until(() => calls);
    for (let commit = 0; commit < 3; commit++) {
      const before = calls;
      await writing.catalogue.write((writer) => writer.markChanged());
      await until(() => calls > before);
    }
    stop();
  });

  test('a stopped watcher is not called again, and stopping twice is harmless', async () => {
    const { url, stores } = await open.scene(database);
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

test('on PostgreSQL, a change is noticed after all connections were lost', async () => {
  const url = await newPostgresSchema();
  const stores = await open.stores(url);
  const admin = open.database(url, { ...COMMAND_OPTIONS, connectionsMax: 1 });
  await stores.revisions();
  const ended = await admin.all(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  expect(ended.length).toBeGreaterThan(0);
  const reached = catalogueReaches(stores, 1);
  await admin.write((connection) => raiseRevision(connection, 'catalogue'));
  await reached;
});
