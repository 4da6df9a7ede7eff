// Databases that released versions have written, and programs of two versions on one database.

import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newUuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { Database } from '../../src/storage/database.ts';
import { openStores } from '../../src/storage/open-stores.ts';
import { POSTGRES_SCHEMA } from '../../src/storage/postgres/postgres-schema.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { versionOf } from '../../src/storage/schema/schema.ts';
import { SQLITE_MAIN } from '../../src/storage/sqlite/sqlite-schemas.ts';
import { type ReleaseContents, readContents, withParsedDocuments } from '../fixtures/release-contents.ts';
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

/** Loads the fixture into an empty database. */
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
  describe(`upgrading an earlier release's database on ${database.name}`, () => {
    const open = openTestStores();
    const releases = readFileSync(CHANGELOG, 'utf8').matchAll(/^## \[(\d+\.\d+\.\d+)\]/gm);

    for (const [, version] of releases) {
      if (!existsSync(join(FIXTURES, `v${version}.sqlite.sql`))) continue;
      test(`a database created by v${version} opens and keeps its contents`, async () => {
        const url = await database.createEmpty();
        const expected = await load(open.database(url), `v${version}.${database.name.toLowerCase()}`);
        const stores = await open.stores(url);
        expect(withParsedDocuments(await readContents(stores))).toEqual(withParsedDocuments(expected));
        await expectToGoOn(stores, expected);
      });
    }
  });

  describe(`two versions side by side on ${database.name}`, () => {
    const open = openTestStores();
    const schema = database.name === 'SQLite' ? SQLITE_MAIN : POSTGRES_SCHEMA;
    /** The next version's schema: one more table, which this version does not read. */
    const next = { ...schema, steps: [...schema.steps, ['CREATE TABLE next_version (id INTEGER)']] };
    const nextAlone = { ...next, oldestVersion: versionOf(next) };
    const query = { orgId: 1, cursor: undefined, window: EVERYTHING, limit: 10 };

    test('an older program can keep running and be restarted while the newer schema allows it', async () => {
      const url = await database.createEmpty();
      const running = await open.stores(url);
      const { id: orgId } = await newOrganisation(running);
      const [from, to] = [versionOf(schema), versionOf(next)];
      expect(await migrate(open.database(url), TEST_AUDITOR, next)).toEqual({ from, to });

      await writeTransactions(running, orgId, newIds(2));
      expect(await running.revisions()).toEqual({ catalogue: 0, tokens: 0, activation: 1, webhooks: 0 });
      const started = await open.stores(url);
      expect(textsOf(await started.transactions.page({ ...query, orgId }))).toHaveLength(2);
      // The newer program does not create its tables again.
      expect(await migrate(open.database(url), TEST_AUDITOR, next)).toEqual({ from: to, to });
    });

    test('a running older program reports a schema that it cannot use and does not serve transactions', async () => {
      const url = await database.createEmpty();
      const running = await open.stores(url);
      const { id: orgId } = await newOrganisation(running);
      await migrate(open.database(url), TEST_AUDITOR, nextAlone);

      const message = `the database was upgraded to schema version ${versionOf(next)} by a newer version of Offerbook; upgrade this program too`;
      for (const attempt of [
        () => running.revisions(),
        () => running.transactions.page({ ...query, orgId }),
      ]) {
        const error = await rejection(attempt());
        expect(error).toMatchObject({ kind: 'too new' });
        expect(error.message).toBe(message);
      }
    });

    test('an older program does not start with a schema that it cannot use, and changes nothing', async () => {
      const url = await database.createEmpty();
      await open.stores(url);
      await migrate(open.database(url), TEST_AUDITOR, nextAlone);

      const error = await rejection(openStores(url));
      expect(error).toMatchObject({ kind: 'too new' });
      expect(error.message).toBe(
        `the database ${await open.database(url).describePlace()} has schema version ${versionOf(next)}, created by a newer Offerbook; this one supports up to version ${versionOf(schema)}`,
      );
      expect(await open.database(url).all('SELECT version, oldest_version FROM schema_version')).toEqual([
        { version: versionOf(next), oldest_version: versionOf(next) },
      ]);
    });
  });
}

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
