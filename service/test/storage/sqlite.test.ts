import { Database as SqliteFile } from 'bun:sqlite';
import { describe, expect, spyOn, test } from 'bun:test';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { StorageError } from '../../src/domain/storage-error.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { Queries } from '../../src/storage/database.ts';
import { SERVER_OPTIONS } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { explainSqlite } from '../../src/storage/sqlite/sqlite-errors.ts';
import { SQLITE } from '../support/databases.ts';
import { putDocuments } from '../support/put-documents.ts';
import { until } from '../support/until.ts';
import { newIds, openTestStores, rejection, writeTransactions } from './open-test-stores.ts';

const BUSY = 'another process is writing to the database; try again when it has finished';

describe('SQLite', () => {
  const open = openTestStores();

  test('connections use WAL, 8 KiB pages, sync on commit, check foreign keys, and overwrite deleted bytes', async () => {
    const database = open.database(await SQLITE.create());
    const expected = {
      journal_mode: 'wal',
      page_size: 8192,
      synchronous: 2,
      foreign_keys: 1,
      secure_delete: 1,
    };
    const settingsOf = async (connection: Queries) => {
      const read = Object.keys(expected).map((name) => connection.all<object>(`PRAGMA ${name}`));
      return Object.assign({}, ...(await Promise.all(read)).flat());
    };
    expect(await settingsOf(database)).toEqual(expected);
    expect(await database.read(settingsOf)).toEqual(expected);
    expect(await database.write(settingsOf)).toEqual(expected);
  });

  test('every table checks its column types', async () => {
    const { url } = await open.scene(SQLITE);
    const sql = `SELECT name FROM pragma_table_list
      WHERE schema = 'main' AND strict = 0 AND name NOT LIKE 'sqlite%'`;
    expect(await open.database(url).all(sql)).toEqual([]);
  });

  /** Holds the write lock of a database, as another process might. */
  function lockDatabase(url: string): SqliteFile {
    const file = new SqliteFile(url.slice('sqlite:'.length));
    file.run('BEGIN IMMEDIATE');
    return file;
  }

  test("a write waits for another connection's lock without blocking this process", async () => {
    const { url, stores, orgId } = await open.scene(SQLITE);
    const lock = lockDatabase(url);
    let turns = 0;
    const turning = setInterval(() => {
      // This timer releases the lock. If waiting blocked the process, the timer would never fire.
      if (++turns === 20) lock.close();
    }, 5);
    const stampMs = await writeTransactions(stores, orgId, newIds(1));
    clearInterval(turning);

    expect(turns).toBeGreaterThanOrEqual(20);
    expect(stampMs).toBeGreaterThan(0);
  });

  test('a write that waits too long is rejected without blocking reads, or the next write', async () => {
    const { url, orgId } = await open.scene(SQLITE);
    const lock = lockDatabase(url);
    const refused: Stores[] = [];
    for (const options of [SERVER_OPTIONS, { ...COMMAND_OPTIONS, lockTimeoutMs: 100 }]) {
      const stores = await open.stores(url, options);
      refused.push(stores);
      let nowMs = performance.now();
      const deadlineMs = nowMs + options.lockTimeoutMs;
      using _ = spyOn(performance, 'now').mockImplementation(() => (nowMs += options.lockTimeoutMs / 10));
      const refusal = rejection(writeTransactions(stores, orgId, newIds(1)));
      expect(await stores.organisations.list()).toHaveLength(1);
      expect(await refusal).toMatchObject({ kind: 'busy', message: BUSY });
      expect(nowMs).toBeGreaterThanOrEqual(deadlineMs);
    }
    lock.close();
    for (const stores of refused)
      expect(await writeTransactions(stores, orgId, newIds(1))).toBeGreaterThan(0);
  });

  test('the time that a write spends in the queue behind another write counts towards its lock timeout', async () => {
    const url = await SQLITE.create();
    // With a timeout of its own, the second write would wait longer than a test may take.
    const lockTimeoutMs = 600_000;
    const database = open.database(url, { ...COMMAND_OPTIONS, lockTimeoutMs });
    await database.write(async () => {});
    const lock = lockDatabase(url);
    const writes = [rejection(database.write(async () => {})), rejection(database.write(async () => {}))];
    const nowMs = performance.now();
    using _ = spyOn(performance, 'now').mockImplementation(() => nowMs + lockTimeoutMs);
    for (const write of writes) expect((await write).message).toBe(BUSY);
    lock.close();
  });

  // Reads wait only while another process recovers the log after a crash.
  test('a read waits up to a second for a lock, also after a write and after the log was emptied', async () => {
    const database = open.database(await SQLITE.create());
    const timeoutOf = (connection: Queries) => connection.all<{ timeout: number }>('PRAGMA busy_timeout');
    const timeouts = async () => [
      await database.write(timeoutOf),
      await database.read(timeoutOf),
      await timeoutOf(database),
    ];
    expect(await timeouts()).toEqual(Array(3).fill([{ timeout: 1_000 }]));
    await database.emptyLog();
    expect(await timeouts()).toEqual(Array(3).fill([{ timeout: 1_000 }]));
  });

  test('a failed write does not leave a large log, even while other connections have the file open', async () => {
    const { url, stores, orgId } = await open.scene(SQLITE);
    const server = await open.stores(url, SERVER_OPTIONS);
    expect(await server.organisations.list()).toHaveLength(1);
    const logBytes = () => statSync(`${url.slice('sqlite:'.length)}-wal`).size;
    const failed = stores.transactions.write(orgId, async (writer) => {
      // More than SQLite's page cache can hold.
      for (let megabytes = 0; megabytes < 80; megabytes++) {
        const document = JSON.stringify({ text: 'x'.repeat(1024 * 1024) });
        await putDocuments(
          writer,
          newIds(1).map((id) => ({ id, document })),
        );
      }
      expect(logBytes()).toBeGreaterThan(20 * 1024 * 1024);
      throw new Error('the rest of the file is bad');
    });
    expect((await rejection(failed)).message).toBe('the rest of the file is bad');
    expect(logBytes()).toBeLessThan(1024 * 1024);
    expect(await server.organisations.list()).toHaveLength(1);
    expect(await writeTransactions(stores, orgId, newIds(1))).toBeGreaterThan(0);
  });

  test.if(process.platform === 'linux')(
    'a thread syncs the log during a long write and then closes it, and the database stays locked',
    async () => {
      const url = await SQLITE.create();
      const path = url.slice('sqlite:'.length);
      const log = `${path}-wal`;
      const database = open.database(url);
      const before = await database.write(async () => ({ handles: handlesOn(log), locks: locksOn(path) }));
      expect(before).toEqual({ handles: expect.any(Number), locks: [expect.stringContaining('READ')] });

      await database.write(async () => {
        await until(() => handlesOn(log) !== before.handles);
      });
      await until(() => handlesOn(log) <= before.handles);
      expect({ handles: handlesOn(log), locks: locksOn(path) }).toEqual(before);
    },
  );

  test.if(process.platform === 'linux')(
    'explaining why another open failed does not release the locks of open connections',
    async () => {
      const url = await SQLITE.create();
      const path = url.slice('sqlite:'.length);
      const database = open.database(url);
      await database.write(async () => {});
      const before = locksOn(path);
      expect(before).toEqual([expect.stringContaining('READ')]);
      const failure = await rejection((async () => new SqliteFile(`${path}/none.db`))());
      expect(explainSqlite(failure, path)).toMatchObject({ kind: 'denied' });
      expect(locksOn(path)).toEqual(before);
    },
  );

  test('closing waits for running reads, rejects later reads, and leaves no log', async () => {
    const { url, stores } = await open.scene(SQLITE);
    await stores.close();
    const database = open.database(url);
    const isClosing = Promise.withResolvers<void>();
    const names = database.read(async (connection) => {
      await isClosing.promise;
      return connection.all('SELECT name FROM organisations');
    });
    const closed = database.close();
    isClosing.resolve();
    await closed;
    // Closing the last connection deletes the write-ahead log.
    expect(await Bun.file(`${url.slice('sqlite:'.length)}-wal`).exists()).toBe(false);
    expect(await names).toHaveLength(1);
    for (const late of [
      () => database.all('SELECT 1'),
      () => database.read((connection) => connection.all('SELECT 1')),
      () => database.write((connection) => connection.all('SELECT 1')),
    ])
      expect(await rejection(late())).toEqual(
        new StorageError('unavailable', 'the database has been closed'),
      );
  });
});

/** Number of file descriptors that this process has open on a file. */
function handlesOn(path: string): number {
  return readdirSync('/proc/self/fd').filter((handle) => {
    try {
      return readlinkSync(`/proc/self/fd/${handle}`) === path;
    } catch {
      // The descriptor with which the folder was read is already closed.
      return false;
    }
  }).length;
}

/** The locks that this process holds on a file. */
function locksOn(path: string): string[] {
  const mine = ` ${process.pid} `;
  const file = `:${statSync(path).ino} `;
  const lines = readFileSync('/proc/locks', 'utf8').split('\n');
  return lines
    .filter((line) => line.includes(mine) && line.includes(file))
    .map((line) => line.slice(line.indexOf(' ') + 1));
}
