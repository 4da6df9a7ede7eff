// Databases that released versions have written, and programs of two versions on one database.

import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BadInput, DatabaseUnavailable } from '../../src/domain/failures.ts';
import { openStores } from '../../src/storage/open-stores.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { MIGRATIONS, OLDEST_VERSION, SQLITE_WALKS } from '../../src/storage/schema/schema.ts';
import { type ReleaseContents, readContents, withAddedFields } from '../fixtures/release-contents.ts';
import { DATABASES } from '../support/databases.ts';
import {
  EVERYTHING,
  newIds,
  newOrganisation,
  openTestStores,
  rejection,
  textsOf,
  writeTransactions,
} from './open-test-stores.ts';

const FIXTURES = join(import.meta.dir, '..', 'fixtures');

for (const database of DATABASES) {
  const dialect = database.name === 'SQLite' ? 'sqlite' : 'postgres';
  const releases = readdirSync(FIXTURES).filter((name) =>
    name.endsWith(`.${database.name.toLowerCase()}.sql`),
  );

  describe(`a database of a release on ${database.name}`, () => {
    const open = openTestStores();

    test('is kept of every release', () => {
      expect(releases).toContain(`v0.1.0.${database.name.toLowerCase()}.sql`);
    });

    test.each(releases)('%s opens, and holds what it held', async (file) => {
      const url = await database.create();
      const statements = readFileSync(join(FIXTURES, file), 'utf8').trimEnd().split('\n');
      await open.database(url).write(async (connection) => {
        for (const statement of statements) await connection.all(statement);
      });
      const expected = JSON.parse(
        readFileSync(join(FIXTURES, file.replace(/\.sql$/, '.ndjson')), 'utf8'),
      ) as ReleaseContents;

      const stores = await open.stores(url);
      expect(withAddedFields(await readContents(stores))).toEqual(withAddedFields(expected));

      // And goes on from there.
      const [org] = await stores.organisations.list();
      const before = expected.organisations[0]?.completeThroughMs ?? 0;
      const stampMs = await writeTransactions(stores, org?.id ?? 0, newIds(3));
      expect(stampMs).toBeGreaterThan(before);
      const window = { minMs: before + 1, maxMs: stampMs };
      const page = await stores.transactions.page({
        orgId: org?.id ?? 0,
        cursor: undefined,
        window,
        limit: 10,
      });
      expect(textsOf(page)).toHaveLength(3);
      expect(await stores.walks.pin({ orgId: org?.id ?? 0, window }, stampMs)).toBe(stampMs);
      expect(await newOrganisation(stores, 'initech')).toMatchObject({ name: 'initech' });
    });
  });

  describe(`two versions side by side on ${database.name}`, () => {
    const open = openTestStores();
    const steps = MIGRATIONS[dialect];
    /** The next version's schema: one more table, which no program of this version looks at. */
    const nextSteps = [...steps, ['CREATE TABLE next_version (id INTEGER)']];
    const query = { orgId: 1, cursor: undefined, window: EVERYTHING, limit: 10 };

    test('an older program goes on, and starts, while the newer schema allows it', async () => {
      const url = await database.create();
      const running = await open.stores(url);
      const { id: orgId } = await newOrganisation(running);
      await migrate(open.database(url), nextSteps, OLDEST_VERSION[dialect]);

      await writeTransactions(running, orgId, newIds(2));
      expect(await running.revisions()).toEqual({ catalogue: 0, tokens: 0 });
      const started = await open.stores(url);
      expect(textsOf(await started.transactions.page({ ...query, orgId }))).toHaveLength(2);
      // The newer one finds what it has made, and does not make it again.
      await migrate(open.database(url), nextSteps, OLDEST_VERSION[dialect]);
    });

    test('when the newer schema does not, a running older program says so and serves no transactions', async () => {
      const url = await database.create();
      const running = await open.stores(url);
      const { id: orgId } = await newOrganisation(running);
      await migrate(open.database(url), nextSteps, nextSteps.length);

      const message = `the database has been brought to schema version ${nextSteps.length} for a newer Offerbook; this one must be replaced by it`;
      for (const attempt of [
        () => running.revisions(),
        () => running.transactions.page({ ...query, orgId }),
      ]) {
        const error = await rejection(attempt());
        expect(error).toBeInstanceOf(DatabaseUnavailable);
        expect(error.message).toBe(message);
      }
    });

    test('and an older program that starts is refused, and changes nothing', async () => {
      const url = await database.create();
      await open.stores(url);
      await migrate(open.database(url), nextSteps, nextSteps.length);

      const error = await rejection(openStores(url));
      expect(error).toBeInstanceOf(BadInput);
      expect(error.message).toBe(
        `this database has schema version ${nextSteps.length}, made by a newer Offerbook; this one knows up to version ${steps.length}`,
      );
      expect(await open.database(url).all('SELECT version, oldest_version FROM schema_version')).toEqual([
        { version: nextSteps.length, oldest_version: nextSteps.length },
      ]);
    });
  });
}

describe('the file of walks beside an SQLite database', () => {
  const open = openTestStores();

  test.each(SQLITE_WALKS.map((_, index) => index + 1))(
    'of version %i is brought up to date when a walk begins',
    async (version) => {
      const url = (await DATABASES[0]?.create()) ?? '';
      await migrate(open.database(`${url}-walks`), SQLITE_WALKS.slice(0, version), version);
      const stores = await open.stores(url);
      const walk = { orgId: 1, window: EVERYTHING };
      expect(await stores.walks.pin(walk, 5)).toBe(5);
      expect(await stores.walks.pin(walk, 4)).toBe(5);
      expect(await stores.walks.find(walk)).toBe(5);
      expect(await stores.walks.find({ ...walk, orgId: 2 })).toBeUndefined();
    },
  );
});
