// Databases that released versions have written, or programs before the first release, and programs of two versions on one database.

import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newUuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { copyDatabase } from '../../src/storage/copy-database.ts';
import type { Database } from '../../src/storage/database.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { SCHEMAS, versionOf } from '../../src/storage/schema/schema.ts';
import { type ReleaseContents, readContents, withAddedFields } from '../fixtures/release-contents.ts';
import { offerbook } from '../support/command.ts';
import { DATABASES } from '../support/databases.ts';
import {
  EVERYTHING,
  newIds,
  newOrganisation,
  openTestStores,
  rejection,
  TEST_AUDITOR,
  textsOf,
  writeTransactions,
} from './open-test-stores.ts';

const FIXTURES = join(import.meta.dir, '..', 'fixtures');
const CHANGELOG = join(import.meta.dir, '..', '..', '..', 'CHANGELOG.md');

const VERSION_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Makes an empty database what the fixture holds. */
async function load(database: Database, fixture: string): Promise<ReleaseContents> {
  const statements = readFileSync(join(FIXTURES, `${fixture}.sql`), 'utf8')
    .trimEnd()
    .split('\n');
  await database.write(async (connection) => {
    for (const statement of statements) await connection.all(statement);
  });
  return JSON.parse(readFileSync(join(FIXTURES, `${fixture}.ndjson`), 'utf8')) as ReleaseContents;
}

for (const database of DATABASES) {
  const dialect = database.name === 'SQLite' ? 'sqlite' : 'postgres';

  describe(`a database of an earlier release on ${database.name}`, () => {
    const open = openTestStores();
    const releases = readFileSync(CHANGELOG, 'utf8').matchAll(/^## \[(\d+\.\d+\.\d+)\]/gm);

    for (const [, version] of releases) {
      test(`a database of v${version} opens and keeps its contents`, async () => {
        const url = await database.create();
        const expected = await load(open.database(url), `v${version}.${database.name.toLowerCase()}`);
        const stores = await open.stores(url);
        expect(withAddedFields(await readContents(stores))).toEqual(withAddedFields(expected));
        await expectToGoOn(stores, expected);
      });
    }
  });

  describe(`the import log of a database before schema version 10 on ${database.name}`, () => {
    const open = openTestStores();

    test('the upgrade fills in the freshness of each feed and removes problems, which may quote rows', async () => {
      const url = await database.create();
      const raw = open.database(url);
      const schema = SCHEMAS[dialect];
      await migrate(raw, TEST_AUDITOR, { ...schema, steps: schema.steps.slice(0, 5) });
      const nowMs = Date.now();
      await raw.all(`INSERT INTO organisations (name, created_at, last_stamp) VALUES ('acme', 1, 1)`);
      await raw.all(`INSERT INTO revisions (name, value) VALUES ('imports transactions last success', 5)`);
      const problems = [{ line: 1, field: 'alice', reason: 'is an unknown field' }];
      const counts = { read: 1, added: 0, changed: 0, unchanged: 0, withdrawn: 0, invalid: 1 };
      const enter = (orgId: number | null, source: string | null, endedMs: number | null, outcome: string) =>
        raw.all(
          `INSERT INTO imports (kind, org_id, began_at, ended_at, outcome, document) VALUES ($1, $2, $3, $4, $5, $6)`,
          orgId === null ? 'catalogue' : 'transactions',
          orgId,
          nowMs - 10_000,
          endedMs,
          outcome,
          JSON.stringify({
            by: 'me',
            source,
            fileName: 'f',
            version: '0.1.0',
            ...{ counts, fileDigest: null },
            problems,
            problemCount: 1,
            reason: null,
          }),
        );
      await enter(1, 'awin', nowMs - 9_000, 'done');
      await enter(1, 'awin', nowMs - 8_000, 'refused');
      await enter(1, null, nowMs - 7_000, 'done');
      await enter(1, 'cj', nowMs - 6_000, 'failed');
      await enter(null, null, nowMs - 5_000, 'done');
      await enter(null, null, null, 'begun');

      const stores = await open.stores(url);
      const { feeds } = await stores.imports.totals();
      const feed = (ageMs: number, lastOutcome: 'done' | 'refused' | 'failed') => ({
        lastOutcome,
        lastEndedMs: nowMs - ageMs,
      });
      expect(feeds).toEqual([
        {
          kind: 'catalogue',
          orgName: null,
          source: null,
          lastSuccessMs: nowMs - 5_000,
          ...feed(5_000, 'done'),
        },
        {
          kind: 'transactions',
          orgName: 'acme',
          source: 'awin',
          lastSuccessMs: nowMs - 9_000,
          ...feed(8_000, 'refused'),
        },
        {
          kind: 'transactions',
          orgName: 'acme',
          source: 'cj',
          lastSuccessMs: null,
          ...feed(6_000, 'failed'),
        },
      ]);
      expect(
        await raw.all(
          `SELECT last_success AS "success", last_outcome AS "outcome" FROM import_feeds WHERE org_id = 1 AND source = ''`,
        ),
      ).toEqual([{ success: nowMs - 7_000, outcome: 'failed' }]);
      expect(await raw.all(`SELECT name FROM revisions WHERE name LIKE 'imports %'`)).toEqual([]);
      const entries = await stores.imports.list({ limit: 9 });
      expect(
        entries.map(({ problems: listed, problemCount, source, counts: { invalid } }) => [
          listed,
          problemCount,
          source,
          invalid,
        ]),
      ).toEqual([null, null, 'cj', null, 'awin', 'awin'].map((source) => [[], 1, source, 1]));
    });
  });

  describe(`a database from before the first release on ${database.name}`, () => {
    const open = openTestStores();
    const fixture = `schema-4.${database.name.toLowerCase()}`;

    test('an unreleased database is rejected with the command that copies it, and not changed', async () => {
      const url = await database.create();
      const raw = open.database(url);
      await load(raw, fixture);
      const error = await rejection(openStores(url));
      expect(error).toMatchObject({ kind: 'unreleased' });
      expect(error.message).toBe('this database has schema version 4, from before the first release');
      expect(await raw.all('SELECT version, oldest_version FROM schema_version')).toEqual([
        { version: 4, oldest_version: 4 },
      ]);
    });

    test('an unreleased database is copied into a new one, which continues from there', async () => {
      const from = await database.create();
      const expected = await load(open.database(from), fixture);
      const url = await database.create();
      await copyDatabase(from, url, TEST_AUDITOR);
      const stores = await open.stores(url);
      expect(withAddedFields(await readContents(stores))).toEqual(withAddedFields(expected));
      await expectToGoOn(stores, expected);
    });

    test('an unreleased database can be exported', async () => {
      const url = await database.create();
      const expected = await load(open.database(url), fixture);
      const { retailers, organisations } = withAddedFields(expected);
      const exported = async (...what: string[]) => {
        const { code, stdout, stderr } = await offerbook(['export', ...what, '--database', url]);
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        return stdout
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line));
      };
      expect(await exported('catalogue')).toEqual(retailers);
      for (const { name, transactions } of organisations)
        expect(await exported('transactions', '--org', name)).toEqual(transactions);
    });
  });

  test(`a database of schema version 5 on ${database.name} gets public ids, a click key and a table of links`, async () => {
    const url = await database.create();
    const raw = openDatabase(url, CREATE_OPTIONS);
    const [first = []] = SCHEMAS[dialect].steps;
    await migrate(raw, TEST_AUDITOR, { ...SCHEMAS[dialect], oldestVersion: 5, steps: [first] });
    for (const name of ['acme', 'globex'])
      await raw.all('INSERT INTO organisations (name, created_at, last_stamp) VALUES ($1, 1, 1)', name);
    await raw.close();
    const stores = await openStores(url);
    const publicIds = (await stores.organisations.list()).map(({ publicId }) => publicId);
    expect(publicIds).toEqual([expect.stringMatching(VERSION_4), expect.stringMatching(VERSION_4)]);
    expect(new Set(publicIds).size).toBe(2);
    expect((await stores.clickKey()).length).toBeGreaterThanOrEqual(64);
    expect(await stores.links.list()).toEqual([]);
    await stores.close();
  });

  describe(`two versions side by side on ${database.name}`, () => {
    const open = openTestStores();
    const schema = SCHEMAS[dialect];
    /** The next version's schema: one more table, which no program of this version looks at. */
    const next = { ...schema, steps: [...schema.steps, ['CREATE TABLE next_version (id INTEGER)']] };
    const nextAlone = { ...next, oldestVersion: versionOf(next) };
    const query = { orgId: 1, cursor: undefined, window: EVERYTHING, limit: 10 };

    test('an older program keeps running, and starts, while the newer schema allows it', async () => {
      const url = await database.create();
      const running = await open.stores(url);
      const { id: orgId } = await newOrganisation(running);
      await migrate(open.database(url), TEST_AUDITOR, next);

      await writeTransactions(running, orgId, newIds(2));
      expect(await running.revisions()).toEqual({ catalogue: 0, tokens: 0, activation: 1 });
      const started = await open.stores(url);
      expect(textsOf(await started.transactions.page({ ...query, orgId }))).toHaveLength(2);
      // The newer one finds what it has made, and does not make it again.
      await migrate(open.database(url), TEST_AUDITOR, next);
    });

    test('a running older program reports a schema that it cannot use and serves no transactions', async () => {
      const url = await database.create();
      const running = await open.stores(url);
      const { id: orgId } = await newOrganisation(running);
      await migrate(open.database(url), TEST_AUDITOR, nextAlone);

      const message = `the database has been brought to schema version ${versionOf(next)} for a newer Offerbook; this one must be replaced by it`;
      for (const attempt of [
        () => running.revisions(),
        () => running.transactions.page({ ...query, orgId }),
      ]) {
        const error = await rejection(attempt());
        expect(error).toMatchObject({ kind: 'too new' });
        expect(error.message).toBe(message);
      }
    });

    test('an older program refuses to start with a schema that it cannot use, and changes nothing', async () => {
      const url = await database.create();
      await open.stores(url);
      await migrate(open.database(url), TEST_AUDITOR, nextAlone);

      const error = await rejection(openStores(url));
      expect(error).toMatchObject({ kind: 'too new' });
      expect(error.message).toBe(
        `this database has schema version ${versionOf(next)}, made by a newer Offerbook; this one knows up to version ${versionOf(schema)}`,
      );
      expect(await open.database(url).all('SELECT version, oldest_version FROM schema_version')).toEqual([
        { version: versionOf(next), oldest_version: versionOf(next) },
      ]);
    });
  });
}

describe('the file of walks beside an SQLite database', () => {
  const open = openTestStores();

  test('a file of walks from before the first release is recreated when a walk begins', async () => {
    const url = (await DATABASES[0]?.create()) ?? '';
    await open.database(`${url}-walks`).write(async (connection) => {
      await connection.all('CREATE TABLE schema_version (version INTEGER, oldest_version INTEGER)');
      await connection.all('INSERT INTO schema_version VALUES (1, 1)');
      await connection.all('CREATE TABLE walks (token_id TEXT, pinned_stamp INTEGER)');
    });
    const stores = await open.stores(url);
    const walk = { tokenId: newUuid(), window: EVERYTHING };
    await stores.walks.begin(walk, 5);
    expect(await stores.walks.find(walk)).toBe(5);
  });
});

async function expectToGoOn(stores: Stores, { organisations }: ReleaseContents): Promise<void> {
  const [before] = organisations;
  const org = await stores.organisations.find(before?.name ?? '');
  const [orgId, completeThroughMs] = [org?.id ?? 0, before?.completeThroughMs ?? 0];
  const stampMs = await writeTransactions(stores, orgId, newIds(3));
  expect(stampMs).toBeGreaterThan(completeThroughMs);
  const window = { minMs: completeThroughMs + 1, maxMs: stampMs };
  const page = await stores.transactions.page({ orgId, cursor: undefined, window, limit: 10 });
  expect(textsOf(page)).toHaveLength(3);
  const walk = { tokenId: newUuid(), window };
  await stores.walks.begin(walk, stampMs);
  expect(await stores.walks.find(walk)).toBe(stampMs);
  expect(await newOrganisation(stores, 'initech')).toMatchObject({ name: 'initech' });
}
