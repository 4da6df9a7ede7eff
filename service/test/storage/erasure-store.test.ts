// Erasing a user: no stored data names the user any more, and no later import or concurrent write restores it.

import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Click } from '../../src/domain/click.ts';
import type { Organisation } from '../../src/domain/organisation.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { Connection, Database } from '../../src/storage/database.ts';
import { openDatabase, sqlitePath } from '../../src/storage/open-database.ts';
import { closing } from '../../src/storage/open-once.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { userKey } from '../../src/storage/transactions/user-ids.ts';
import { DATABASES, SQLITE } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { id, transaction } from '../support/fixtures.ts';
import { putDocuments } from '../support/put-documents.ts';
import {
  EVERYTHING,
  importRows,
  interrupted,
  newOrganisation,
  openTestStores,
  rowsOf,
  untilWaiting,
} from './open-test-stores.ts';

const open = openTestStores();

const UID = 'anna "a\\b" müller';
const DATA = 'campaign for anna';

describe.each(DATABASES)('erasing a user on $name', (database) => {
  async function scene() {
    const opened = await open.scene(database, Date.UTC(2026, 10, 15, 12));
    const { stores, org, clock, pass } = opened;
    const load = async (rows: readonly object[], to: Organisation | undefined = org) => {
      pass(1_000);
      return importRows(stores, to, rows, clock);
    };
    return { ...opened, load };
  }

  async function readPage(stores: Stores, orgId: number, asOfMs?: number) {
    const page = await stores.transactions.page({ orgId, window: EVERYTHING, limit: 100, asOfMs });
    return { rows: rowsOf(page), completeThroughMs: page.completeThroughMs };
  }

  test('an erasure removes both passback fields from transactions, history and clicks, stamps the change, and keeps everything else', async () => {
    const { url, stores, org, load, pass, clock } = await scene();
    const other = await newOrganisation(stores, 'other');
    const of = (number: number, with_: Partial<Transaction> = {}) =>
      transaction(number, { passbackUid: UID, passbackData: DATA, ...with_ });
    const others = [
      transaction(3, { passbackUid: `${UID}2`, passbackData: `"passbackUid":"${UID}"` }),
      transaction(4, { passbackUid: null, passbackData: UID }),
    ];
    await load([of(1), of(2, { cashback: 1.5 }), ...others]);
    await load([of(1, { status: 'CONFIRMED' }), transaction(5, { passbackUid: UID })]);
    // The transaction now belongs to another user, whose version must stay.
    await load([transaction(5, { passbackUid: 'bert' })]);
    await load([of(6)], other);
    const clicks: Click[] = [];
    for (const [orgId, passbackUid] of [
      [org.id, UID],
      [org.id, 'bert'],
      [other.id, UID],
    ] as const)
      clicks.push(await recordClick(stores, orgId, { passbackUid, passbackData: DATA }));
    const before = await readPage(stores, org.id);
    const versionsBefore = await Promise.all([1, 2, 5].map((n) => stores.history.versions(id(n))));
    const otherBefore = await readPage(stores, other.id);

    expect(await stores.erasures.count(org.id, UID)).toEqual({ transactions: 2, versions: 2, clicks: 1 });
    expect(await readPage(stores, org.id)).toEqual(before);
    pass(60_000);
    const counts = { transactions: 2, versions: 2, clicks: 1 };
    expect(await stores.erasures.erase(org, UID)).toEqual(counts);

    const stamp = printTimestamp(clock());
    const erased = { passbackUid: null, passbackData: null };
    expect(await readPage(stores, org.id)).toEqual({
      rows: before.rows.map((row) =>
        row.passbackUid === UID ? { ...row, ...erased, updatedAt: stamp } : row,
      ),
      completeThroughMs: clock(),
    });
    const versions = await Promise.all([1, 2, 5].map((n) => stores.history.versions(id(n))));
    const withoutUser = (document: string) => {
      const row = JSON.parse(document) as Transaction;
      return row.passbackUid === UID ? { ...row, ...erased } : row;
    };
    // All versions still exist, with the same stamps. The erasure replaced the current version.
    const earlier = versions.map((all, i) => all.slice(-(versionsBefore[i]?.length ?? 0)));
    expect(earlier.map((all) => all.map(({ document }) => JSON.parse(document)))).toEqual(
      versionsBefore.map((all) => all.map(({ document }) => withoutUser(document))),
    );
    expect(versions.map((all) => all.map(({ untilMs }) => untilMs))).toEqual([
      [null, clock(), versionsBefore[0]?.[1]?.untilMs ?? 0],
      [null, clock()],
      [null, versionsBefore[2]?.[1]?.untilMs ?? 0],
    ]);
    const found = await stores.clicks.find(clicks.map((click) => click.id));
    expect(clicks.map((click) => found.get(click.id))).toEqual([
      { ...(clicks[0] as Click), ...erased },
      clicks[1] as Click,
      clicks[2] as Click,
    ]);
    expect(await readPage(stores, other.id)).toEqual(otherBefore);
    const [entry, ...olderEntries] = await stores.audit.list({ limit: 10 });
    expect(entry).toMatchObject({ action: 'user erased', org: 'acme', details: counts });
    expect(JSON.stringify([entry, olderEntries])).not.toContain('anna');
    expect(await stores.erasures.erase(org, UID)).toEqual({ transactions: 0, versions: 0, clicks: 0 });
    await using raw = closing(openDatabase(url, COMMAND_OPTIONS));
    const sql = 'SELECT id FROM transactions WHERE org_id = $1 AND user_key = $2';
    expect(await raw.all(sql, org.id, userKey(UID))).toEqual([]);
  });

  test('no import restores an erased user through a row or a click, except for later sales', async () => {
    const { stores, org, load, clock } = await scene();
    const click = await recordClick(stores, org.id, { passbackUid: UID, passbackData: DATA });
    const old = transaction(1, { passbackUid: UID, passbackData: DATA });
    const ahead = transaction(2, { passbackUid: UID, soldAt: printTimestamp(clock() + 86_400_000) });
    await load([old, ahead]);
    const erasedAtMs = clock();
    await stores.erasures.erase(org, UID);
    const erased = await readPage(stores, org.id);

    expect(await load([old, ahead])).toMatchObject({
      unchanged: 2,
      changed: 0,
      notes: ['2 rows of users who were erased: imported without passbackUid and passbackData.'],
    });
    expect(await readPage(stores, org.id)).toEqual(erased);
    const { passbackUid: _, ...bare } = transaction(4);
    await load([
      transaction(3, { passbackUid: UID, passbackData: DATA }),
      { ...bare, clickId: click.id, passbackData: DATA },
      transaction(5, { passbackUid: UID, soldAt: printTimestamp(erasedAtMs - 1) }),
      transaction(6, { passbackUid: UID, soldAt: printTimestamp(erasedAtMs) }),
    ]);
    const { rows } = await readPage(stores, org.id);
    expect(rows.map(({ passbackUid, passbackData }) => [passbackUid, passbackData])).toEqual([
      [null, null],
      [null, null],
      [null, null],
      [null, null],
      [null, null],
      [UID, null],
    ]);
    expect(rows[3]?.couponId).toBe(click.dealId);
  });

  test('an erasure keeps versions of another organisation, whose interrupted deletion has freed the transaction id', async () => {
    const { stores, org, load } = await scene();
    const other = await newOrganisation(stores, 'other');
    for (const status of ['PENDING', 'CONFIRMED'] as const)
      await load([transaction(1, { passbackUid: UID, status })], other);
    await interrupted((onBatch) => stores.organisations.delete('other', { reloadMs: 0, onBatch }));
    const left = await stores.history.versions(id(1));
    expect(left.map(({ orgName }) => orgName)).toEqual(['other']);
    for (const status of ['PENDING', 'CONFIRMED'] as const)
      await load([transaction(1, { passbackUid: UID, status })]);
    expect(await stores.erasures.erase(org, UID)).toEqual({ transactions: 1, versions: 1, clicks: 0 });
    const versions = await stores.history.versions(id(1));
    expect(versions.filter(({ orgName }) => orgName === 'other')).toEqual(left);
  });

  test('a user whose passbackUid PostgreSQL cannot store as text can be erased', async () => {
    const { url, stores, org, load } = await scene();
    await load([transaction(1, { passbackUid: 'a-b', passbackData: DATA })]);
    const others = await Promise.all(
      ['a', '\ufffd'].map((passbackUid) => recordClick(stores, org.id, { passbackUid })),
    );
    for (const uid of ['a\0b', '\ud800']) {
      // Imports now reject such values.
      await replaceUid(url, uid);
      const counts = { transactions: 1, versions: 0, clicks: 0 };
      expect(await stores.erasures.count(org.id, uid)).toEqual(counts);
      expect(await stores.erasures.erase(org, uid)).toEqual(counts);
      expect((await readPage(stores, org.id)).rows).toMatchObject([
        { passbackUid: null, passbackData: null },
      ]);
    }
    expect(await stores.clicks.list(10)).toEqual(others.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
  });

  async function replaceUid(url: string, uid: string): Promise<void> {
    const raw = openDatabase(url, COMMAND_OPTIONS);
    const [row] = await raw.all<{ document: string }>('SELECT document FROM transactions');
    const document = JSON.stringify({ ...JSON.parse(row?.document ?? ''), passbackUid: uid });
    await raw.all('UPDATE transactions SET document = $1, user_key = $2', document, userKey(uid));
    await raw.close();
  }

  test('the next erasure finishes an interrupted erasure, and imports in between do not restore the user', async () => {
    const { stores, org, load } = await scene();
    const rows = [1, 2].map((n) => transaction(n, { passbackUid: UID, passbackData: DATA }));
    await load(rows);
    await recordClick(stores, org.id, { passbackUid: UID });
    await interrupted((interrupt) => stores.erasures.erase(org, UID, interrupt));
    const actions = async () => (await stores.audit.list({ limit: 2 })).map(({ action }) => action);
    expect(await actions()).toEqual(['user erasure begun', 'organisation created']);
    await load([{ ...rows[0], status: 'CONFIRMED' }]);
    expect(await stores.erasures.erase(org, UID)).toEqual({ transactions: 1, versions: 1, clicks: 0 });
    expect(await actions()).toEqual(['user erased', 'user erasure begun']);
    expect(await stores.erasures.count(org.id, UID)).toEqual({ transactions: 0, versions: 0, clicks: 0 });
  });
});

/** Contains no characters that SQL, JSON or arrays escape. */
const PLAIN_UID = 'anna-m-8842';

/** PostgreSQL columns whose statistics contain this text. */
async function statisticsNaming(database: Database, text: string): Promise<string[]> {
  const rows = await database.all<{ name: string }>(
    `SELECT tablename || '.' || attname AS name FROM pg_stats
      WHERE schemaname = current_schema() AND strpos(pg_stats::text, $1) > 0 ORDER BY name`,
    text,
  );
  return rows.map(({ name }) => name);
}

describe.each(DATABASES.filter(({ name }) => name === 'PostgreSQL'))('erasing on $name', ({ create }) => {
  /** Two transactions with one earlier version each. The first belongs to the user. */
  async function scene() {
    const { url, stores, org } = await open.scene({ create });
    for (const status of ['PENDING', 'CONFIRMED'] as const)
      for (const row of [transaction(1, { status, passbackUid: UID }), transaction(2, { status })])
        await importRows(stores, org, [row]);
    return { url, stores, org, watched: open.database(url) };
  }

  const lockVersion = (connection: Connection, number: number) =>
    connection.all('SELECT id FROM history WHERE id = $1 FOR UPDATE', id(number));

  test('an erasure does not write back a version that a concurrent purge deletes', async () => {
    const { url, stores, org, watched } = await scene();
    const before = Math.max(...(await stores.history.versions(id(2))).map(({ fromMs }) => fromMs)) + 1;
    let [purging, erasing] = [Promise.resolve(0), Promise.resolve({})];
    await watched.write(async (connection) => {
      await lockVersion(connection, 2);
      // The purge has deleted the user's version and waits for the other one.
      purging = (await open.stores(url)).history.purge(before);
      await untilWaiting(open.database(url), 1);
      erasing = stores.erasures.erase(org, UID);
      await untilWaiting(open.database(url), 2);
    });
    expect(await purging).toBe(2);
    expect(await erasing).toEqual({ transactions: 1, versions: 0, clicks: 0 });
    expect(await watched.all('SELECT id FROM history WHERE until_stamp < $1', before)).toEqual([]);
  });

  test('a concurrent erasure and purge of the same versions both finish, and no version remains', async () => {
    const { url, stores, org, watched } = await scene();
    for (const number of [3, 4])
      await watched.all(
        'INSERT INTO former_users (org_id, user_key, id, until_stamp) VALUES ($1, $2, $3, 5)',
        org.id,
        userKey(UID),
        id(number),
      );
    // The order by id differs from the order by time.
    for (const [number, untilMs] of [
      [3, 2],
      [3, 4],
      [4, 1],
      [4, 3],
    ] as const)
      await watched.all(
        'INSERT INTO history (id, until_stamp, org_id, from_stamp, document) VALUES ($1, $2, $3, 0, $4)',
        id(number),
        untilMs,
        org.id,
        JSON.stringify(transaction(number, { passbackUid: UID })),
      );
    let [purging, erasing] = [Promise.resolve(0), Promise.resolve({})];
    await watched.write(async (connection) => {
      await connection.all('SELECT id FROM history WHERE id = $1 AND until_stamp = 4 FOR UPDATE', id(3));
      erasing = stores.erasures.erase(org, UID);
      await untilWaiting(open.database(url), 1);
      purging = (await open.stores(url)).history.purge(5);
      await untilWaiting(open.database(url), 2);
    });
    expect([await erasing, await purging]).toEqual([{ transactions: 1, versions: 5, clicks: 0 }, 4]);
    expect(await watched.all('SELECT id FROM history WHERE until_stamp < 5')).toEqual([]);
  });

  test('an erased user does not remain in the planner statistics', async () => {
    const { stores, org, watched } = await scene();
    const rows = Array.from({ length: 20 }, (_, n) => transaction(n + 10, { passbackUid: PLAIN_UID }));
    await importRows(stores, org, rows);
    for (let n = 0; n < 20; n++)
      await recordClick(stores, org.id, { passbackUid: PLAIN_UID, passbackData: `for ${PLAIN_UID}` });
    await watched.all('VACUUM ANALYZE');
    expect(await statisticsNaming(watched, PLAIN_UID)).toEqual([]);
    await stores.erasures.erase(org, PLAIN_UID);
    await watched.all('VACUUM ANALYZE');
    expect(await statisticsNaming(watched, PLAIN_UID)).toEqual([]);
    // Other columns do have statistics.
    expect(await statisticsNaming(watched, 'coupons')).toEqual(['clicks.kind']);
  });

  test('an erasure waits for a running import and then erases what it wrote', async () => {
    const { url, stores, org, watched } = await scene();
    const importer = await open.stores(url);
    let erasing: Promise<unknown> = Promise.resolve();
    await importer.transactions.write(org.id, async (writer) => {
      const document = JSON.stringify(transaction(9, { passbackUid: UID }));
      await putDocuments(writer, [{ id: id(9), document }]);
      erasing = stores.erasures.erase(org, UID);
      await Promise.race([untilWaiting(watched, 1), erasing]);
    });
    expect(await erasing).toEqual({ transactions: 2, versions: 1, clicks: 0 });
    expect(await stores.erasures.count(org.id, UID)).toEqual({ transactions: 0, versions: 0, clicks: 0 });
  });

  test('deleting an organisation also deletes a version that is being erased at the same time', async () => {
    const { url, stores, org, watched } = await scene();
    let [erasing, deleting]: Promise<unknown>[] = [];
    await watched.write(async (connection) => {
      await lockVersion(connection, 1);
      erasing = stores.erasures.erase(org, UID);
      await untilWaiting(open.database(url), 1);
      deleting = (await open.stores(url)).organisations.delete(org.name, { reloadMs: 0 });
      await untilWaiting(open.database(url), 2);
    });
    await Promise.all([erasing, deleting]);
    expect(await watched.all('SELECT id FROM history')).toEqual([]);
  });
});

describe('bytes in the files of an SQLite database', () => {
  // So long that the data written in its place does not overwrite all of it.
  const user = { passbackUid: 'anna-m', passbackData: 'for anna-m '.repeat(200) };

  async function scene() {
    const { url, stores, org } = await open.scene(SQLITE);
    const load = (rows: readonly object[]) => importRows(stores, org, rows);
    const path = sqlitePath(url) ?? '';
    const files = () => readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path)));
    const holding = () =>
      files().filter((name) => readFileSync(join(dirname(path), name)).includes('anna-m'));
    return { stores, org, load, files, holding };
  }

  test('the database files contain no trace of an erased user', async () => {
    const { stores, org, load, files, holding } = await scene();
    await load([1, 2, 3].map((n) => transaction(n, user)));
    await recordClick(stores, org.id, user);
    await stores.erasures.erase(org, 'anna-m');
    expect(files().length).toBeGreaterThan(2);
    expect(holding()).toEqual([]);
  });

  test("the database files contain no trace of a deleted organisation's users", async () => {
    const { stores, org, load, files, holding } = await scene();
    await load([1, 2, 3].map((n) => transaction(n, user)));
    await load([1, 2].map((n) => transaction(n, { ...user, status: 'CONFIRMED' })));
    await recordClick(stores, org.id, user);
    expect(holding()).not.toEqual([]);
    await stores.organisations.delete(org.name, { reloadMs: 0 });
    expect(files().length).toBeGreaterThan(2);
    expect(holding()).toEqual([]);
  });

  test('the database files contain no trace of the users of purged clicks and versions', async () => {
    const { stores, org, load, holding } = await scene();
    await load([transaction(1, user)]);
    // The same length, so that it overwrites the replaced data completely. An import overwrites no other bytes.
    await load([transaction(1, { passbackUid: 'bert-m', passbackData: 'for bert-m '.repeat(200) })]);
    for (let n = 0; n < 50; n++) await recordClick(stores, org.id, user);
    expect(holding()).not.toEqual([]);
    const future = Date.now() + 86_400_000;
    expect(await stores.clicks.purge(future)).toBe(50);
    expect(await stores.history.purge(future)).toBe(1);
    expect(holding()).toEqual([]);
  });
});
