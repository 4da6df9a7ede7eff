import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { REVISIONS, type Stores } from '../../src/domain/stores.ts';
import { copyDatabase } from '../../src/storage/copy-database.ts';
import type { Database, SqlValue } from '../../src/storage/database.ts';
import { sqlitePath } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { columnsOf, keyOf } from '../../src/storage/schema/table.ts';
import { ALL_TABLES, MAIN_TABLES } from '../../src/storage/schema/tables.ts';
import { readClickKey } from '../../src/storage/stores/erased-users.ts';
import { DATABASES, type TestDatabase } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { fillEveryColumn } from './fill-every-column.ts';
import {
  documentOf,
  EVERYTHING,
  idOf,
  interrupted,
  NO_RESULT,
  newIds,
  newOrganisation,
  openTestStores,
  rejection,
  TEST_AUDITOR,
  textsOf,
  writeTransactions,
} from './open-test-stores.ts';

const NOW_MS = Date.UTC(2026, 10, 15);
const TEXT = 'Grüße 👋';

type Row = Record<string, SqlValue>;

/** All rows that a copy must contain, with every column, by table. Imports are named by their start, because ids may differ. */
async function contentOf(database: Database): Promise<Record<string, readonly Row[]>> {
  const content: Record<string, readonly Row[]> = {};
  const imports = await database.all<{ id: number; began_at: number }>('SELECT id, began_at FROM imports');
  const begunAt = new Map<SqlValue, number>(imports.map(({ id, began_at }) => [id, began_at]));
  for (const table of MAIN_TABLES.filter(({ copied }) => copied !== 'not')) {
    const rows = await database.all<Row>(
      `SELECT ${columnsOf(table).join(', ')} FROM ${table.name} ORDER BY ${keyOf(table).join(', ')}`,
    );
    content[table.name] = rows.map((row) =>
      'import_id' in row ? { ...row, import_id: begunAt.get(row.import_id ?? null) ?? null } : row,
    );
  }
  const without = (name: string, isKept: (row: Row) => boolean) =>
    (content[name] ?? []).filter(isKept).map(({ id: _, ...row }) => row);
  return {
    ...content,
    imports: without('imports', () => true),
    audit: without('audit', ({ action }) => action !== 'database copied'),
    // Servers compare the other revisions only with earlier ones of the same database.
    revisions: without('revisions', ({ name }) => !REVISIONS.some((own) => own === name)),
  };
}

/** All clicks, and how many of them resulted in a sale. */
async function clicksOf({ clicks }: Stores) {
  return [await clicks.list(10), await clicks.countBetween(0, 2 * NOW_MS)];
}

/** The files of an SQLite database; empty for PostgreSQL. */
function filesOf(url: string): string[] {
  const path = sqlitePath(url);
  if (path === undefined) return [];
  return readdirSync(dirname(path)).map((name) => join(dirname(path), name));
}

async function fill(open: ReturnType<typeof openTestStores>, from: TestDatabase) {
  const url = await from.create();
  let nowMs = NOW_MS;
  const stores = await open.stores(url, COMMAND_OPTIONS, () => nowMs);
  const orgs = [];
  for (const name of ['zeta', 'acme', 'empty']) {
    nowMs += 1_000;
    orgs.push(await newOrganisation(stores, name));
  }
  for (const { id: orgId, name } of orgs)
    await stores.tokens.add({ orgId, kind: 'public', label: TEXT, digest: name, expiresAtMs: null });
  await stores.catalogue.write(async (writer) => {
    const documents = newIds(450).map((id) => ({ id, document: documentOf(id, TEXT) }));
    await writer.put(documents.slice(0, 400));
    await writer.put(documents.slice(400), 'awin:77777');
    await writer.markChanged();
  });
  const [first, second] = orgs;
  if (first === undefined || second === undefined) throw new Error('there are three');
  for (const rows of [6, 2, 1]) {
    nowMs += 60_000;
    await writeTransactions(stores, first.id, newIds(rows), TEXT);
  }
  const ids = newIds(1_200);
  await writeTransactions(stores, second.id, ids, TEXT);
  const origin = { kind: 'transactions', by: 'me', source: null, fileName: 'a.csv' } as const;
  for (const text of ['second', 'third']) {
    nowMs += 60_000;
    const importId = await stores.imports.begin({ ...origin, orgId: second.id, version: '0.1.0' });
    await writeTransactions(stores, second.id, ids, text, importId);
    await stores.imports.close(importId, 'failed', NO_RESULT);
  }
  await recordClick(stores, first.id);
  const source = open.database(url);
  for (const { id } of [first, second]) await fillEveryColumn(source, id);
  return { source, url, org: first };
}

test('only the state of a running installation is not copied', () => {
  const left = ALL_TABLES.filter(({ copied }) => copied === 'not').map(({ name }) => name);
  expect(left.sort()).toEqual([
    ...['leases', 'pull_budgets', 'pull_requests', 'schema_version', 'taps', 'timeline_clocks'],
    ...['timelines', 'walks'],
  ]);
});

const PAIRS = DATABASES.flatMap((from) =>
  DATABASES.map((to) => [`${from.name} to ${to.name}`, from, to] as const),
);

describe.each(PAIRS)('a copy from %s', (_, from, to) => {
  const open = openTestStores();

  test('a copy contains every row, and imports and polls continue from it', async () => {
    const { source, url, org } = await fill(open, from);
    const targetUrl = await to.createEmpty();
    expect(await copyDatabase(url, targetUrl, TEST_AUDITOR)).toEqual({
      organisations: 3,
      tokens: 5,
      retailers: 452,
      transactions: 6 + 2 + 1 + 1_200 + 2,
      clicks: 1,
    });
    const content = await contentOf(source);
    expect(Object.entries(content).filter(([, rows]) => rows.length === 0)).toEqual([]);
    expect(await contentOf(open.database(targetUrl))).toEqual(content);

    const stores = await open.stores(targetUrl);
    expect(await stores.clickKey()).toBe(await readClickKey(source));
    expect((await stores.revisions()).tokens).toBeGreaterThan(0);
    expect((await stores.revisions()).catalogue).toBeGreaterThan(0);
    // The next organisation's number is greater than every copied number.
    expect((await newOrganisation(stores, 'next')).id).toBe(org.id + 3);
    const { id: orgId = 0 } = (await stores.organisations.find(org.name)) ?? {};
    const query = { orgId, cursor: undefined, window: EVERYTHING, limit: 1_000 };
    const { completeThroughMs } = await stores.transactions.page(query);
    const later = newIds(2);
    const stampMs = await writeTransactions(stores, orgId, later, 'later');
    expect(stampMs).toBeGreaterThan(completeThroughMs);
    const since = { ...query, window: { ...EVERYTHING, minMs: completeThroughMs + 1 } };
    expect(textsOf(await stores.transactions.page(since))).toEqual(
      later.map((id) => `later ${id} ${stampMs}`),
    );
  });

  test('a copy of some organisations contains their rows, and no row of the others', async () => {
    const { source, url } = await fill(open, from);
    const targetUrl = await to.createEmpty();
    const unknown = copyDatabase(url, targetUrl, TEST_AUDITOR, undefined, ['acme', 'nobody']);
    expect(await rejection(unknown)).toMatchObject({
      kind: 'invalid',
      message: 'there is no organisation "nobody"; nothing was copied',
    });
    const names = ['acme', 'empty'];
    expect(await copyDatabase(url, targetUrl, TEST_AUDITOR, undefined, names)).toEqual({
      organisations: 2,
      tokens: 3,
      retailers: 452,
      transactions: 1_201,
      clicks: 0,
    });
    // The copy equals the source after the third organisation is deleted there.
    const stores = await open.stores(url);
    await stores.organisations.delete('zeta', { revokesTokens: true, reloadMs: 0 });
    const { audit: _a, revisions: _r, ...left } = await contentOf(source);
    const { audit = [], revisions: _c, ...copied } = await contentOf(open.database(targetUrl));
    expect(copied).toEqual(left);
    expect(new Set(audit.map(({ org }) => org))).toEqual(new Set(names));
    const [next, nextInSource] = [
      await newOrganisation(await open.stores(targetUrl), 'next'),
      await newOrganisation(stores, 'next'),
    ];
    expect(next.id).toBeGreaterThan(nextInSource.id + 900);
  });
});

// It is enough that each database is the source once and the target once.
const SOME_PAIRS = PAIRS.filter(([, from, to]) => from !== to || DATABASES.length === 1);

describe.each(SOME_PAIRS)('a copy from %s', (_, from, to) => {
  const open = openTestStores();

  test('a copy of an organisation contains no log entry or count of others, not even of a deleted one with its name', async () => {
    const url = await from.create();
    let nowMs = NOW_MS;
    const stores = await open.stores(url, COMMAND_OPTIONS, () => nowMs++);
    await newOrganisation(stores, 'acme');
    await stores.organisations.delete('acme', { reloadMs: 0 });
    const [other, acme] = [await newOrganisation(stores, 'zeta'), await newOrganisation(stores, 'acme')];
    const origin = { by: 'me', source: 'awin', fileName: 'f', version: '1' };
    for (const [kind, orgId] of [
      ['catalogue', null],
      ['transactions', null],
      ['transactions', other.id],
      ['transactions', acme.id],
    ] as const) {
      const id = await stores.imports.begin({ ...origin, kind, orgId });
      await stores.imports.close(id, 'refused', NO_RESULT);
    }
    await stores.imports.begin({ ...origin, kind: 'transactions', orgId: acme.id });
    await stores.clicks.purge(0, () => {});
    const targetUrl = await to.createEmpty();
    await copyDatabase(url, targetUrl, TEST_AUDITOR, undefined, ['acme']);
    const target = open.database(targetUrl);
    expect(await target.all('SELECT kind, org_id, outcome FROM imports ORDER BY id')).toEqual([
      { kind: 'catalogue', org_id: null, outcome: 'refused' },
      { kind: 'transactions', org_id: acme.id, outcome: 'refused' },
      { kind: 'transactions', org_id: acme.id, outcome: 'begun' },
    ]);
    expect(await target.all('SELECT DISTINCT kind, org_id FROM import_feeds ORDER BY kind')).toEqual([
      { kind: 'catalogue', org_id: 0 },
      { kind: 'transactions', org_id: acme.id },
    ]);
    const { counts } = await (await open.stores(targetUrl)).imports.totals();
    expect(counts.filter(({ count }) => count > 0)).toEqual([
      { kind: 'catalogue', outcome: 'refused', count: 1 },
      { kind: 'transactions', outcome: 'refused', count: 1 },
    ]);
    expect(await target.all('SELECT action, org FROM audit ORDER BY id')).toEqual([
      { action: 'organisation created', org: 'acme' },
      { action: 'database copied', org: null },
    ]);
  });

  test('a copy of an empty database, or into one that is not empty, is rejected and changes nothing', async () => {
    const { url } = await open.scene(from);
    const targetUrl = await to.createEmpty();
    const theirs = await open.stores(targetUrl);
    await newOrganisation(theirs, 'theirs');
    const target = open.database(targetUrl);
    const before = await contentOf(target);
    expect(await rejection(copyDatabase(url, targetUrl, TEST_AUDITOR))).toMatchObject({ kind: 'exists' });
    expect(await contentOf(target)).toEqual(before);
    expect(await theirs.clicks.list(1)).toEqual([]);

    const catalogueUrl = await to.createEmpty();
    const catalogue = await open.stores(catalogueUrl);
    await catalogue.catalogue.write((writer) => writer.put([{ id: idOf(1), document: 'theirs' }]));
    expect(await rejection(copyDatabase(url, catalogueUrl, TEST_AUDITOR))).toMatchObject({ kind: 'exists' });
    expect(await catalogue.organisations.list()).toEqual([]);

    const emptyUrl = await from.create();
    await open.stores(emptyUrl);
    const ofNothing = copyDatabase(emptyUrl, await to.createEmpty(), TEST_AUDITOR);
    expect(await rejection(ofNothing)).toMatchObject({ kind: 'invalid' });
  });

  test('if two copies into the same database run at once, one succeeds and the other is rejected', async () => {
    const url = await from.create();
    await newOrganisation(await open.stores(url));
    const targetUrl = await to.createEmpty();
    await open.stores(targetUrl);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 2 }, () => copyDatabase(url, targetUrl, TEST_AUDITOR)),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { kind: 'exists' },
    });
    expect(await (await open.stores(targetUrl)).organisations.list()).toHaveLength(1);
  });

  test('a copy that was interrupted at any point can be repeated, and is then complete', async () => {
    const { url, source, org } = await fill(open, from);
    const clicking = await open.stores(url);
    const sold = await recordClick(clicking, org.id, { activatedAtMs: NOW_MS });
    await recordClick(clicking, org.id, {
      activatedAtMs: NOW_MS,
      passbackUid: 'anna',
      passbackData: 'for anna',
    });
    const targetUrl = await to.createEmpty();
    const target = open.database(targetUrl);
    // Open the target's click file, so that SQLite does not delete its write-ahead log.
    await (await open.stores(targetUrl)).clicks.list(1);
    const before = await contentOf(target);
    let rowsInAll = 0;
    await copyDatabase(url, await to.createEmpty(), TEST_AUDITOR, (rows) => {
      rowsInAll = rows;
    });
    // Clicks are copied last, so the second limit interrupts the copy among them.
    for (const rowsMax of [1_000, rowsInAll - 1]) {
      await interrupted((interrupt) =>
        copyDatabase(url, targetUrl, TEST_AUDITOR, (rows) => rows > rowsMax && interrupt()),
      );
      expect(await contentOf(target)).toEqual(before);
    }
    // Changes to clicks before the next copy are part of that copy.
    await clicking.clicks.markSold([sold.id]);
    await clicking.erasures.erase(org, 'anna');
    expect(await clicking.clicks.purge(NOW_MS)).toBe(1);
    await copyDatabase(url, targetUrl, TEST_AUDITOR);
    expect(await contentOf(target)).toEqual(await contentOf(source));
    expect(await clicksOf(await open.stores(targetUrl))).toEqual(await clicksOf(clicking));
    expect(filesOf(targetUrl).filter((path) => readFileSync(path).includes('for anna'))).toEqual([]);
  });

  test('a copy into a database that contains only counters and imports never lowers a counter or mixes up imports', async () => {
    const [url, targetUrl] = [await from.create(), await to.createEmpty()];
    const origin = {
      kind: 'catalogue',
      orgId: null,
      by: 'me',
      source: null,
      fileName: 'a',
      version: '1',
    } as const;
    for (const [made, failures, organisations] of [
      [url, 1, 1],
      [targetUrl, 2, 3],
    ] as const) {
      const stores = await open.stores(made);
      for (let n = 0; n < failures; n++)
        await stores.imports.close(await stores.imports.begin(origin), 'failed', NO_RESULT);
      for (let n = 0; n < organisations; n++) {
        await newOrganisation(stores, 'wrong');
        await stores.organisations.delete('wrong', { reloadMs: 0 });
      }
    }
    const filling = await open.stores(url);
    const org = await newOrganisation(filling);
    const importId = await filling.imports.begin({ ...origin, kind: 'transactions', orgId: org.id });
    await writeTransactions(filling, org.id, newIds(1), TEXT, importId);
    await copyDatabase(url, targetUrl, TEST_AUDITOR);
    const importsOf = async (of: string) =>
      (await contentOf(open.database(of))).transactions?.map(({ import_id }) => import_id);
    const [begunAt] = (await filling.imports.list({ limit: 1 })).map(({ beganAtMs }) => beganAtMs);
    expect([await importsOf(url), await importsOf(targetUrl)]).toEqual([[begunAt], [begunAt]]);
    const stores = await open.stores(targetUrl);
    const { counts } = await stores.imports.totals();
    expect(counts.filter(({ count }) => count > 0)).toEqual([
      { kind: 'catalogue', outcome: 'failed', count: 2 },
    ]);
    expect((await newOrganisation(stores, 'next')).id).toBe(4);
  });
});
