// Pulls of catalogues that end in the middle.

import { describe, expect, test } from 'bun:test';
import { DAY_MS } from '@offerbook/wire/time.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { Connection, Database } from '../../src/storage/database.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { catalogueStore } from '../../src/storage/stores/catalogue-store.ts';
import { importLog } from '../../src/storage/stores/import-log.ts';
import { pullStore } from '../../src/storage/stores/pull-store.ts';
import { DATABASES } from '../support/databases.ts';
import { Shops } from './shops.ts';

class Killed extends Error {}

/** A database that executes a number of statements and then nothing more, as if the process had been killed. */
function dyingDatabase(
  database: Database,
  statements: number,
): { database: Database; isDead: () => boolean } {
  let left = statements;
  const counted = <T extends Connection | Database>(target: T): T =>
    new Proxy(target, {
      get(object, name) {
        const value = Reflect.get(object, name);
        if (typeof value !== 'function') return value;
        if (name === 'write' || name === 'read' || name === 'readOnce') {
          return (work: (connection: Connection) => Promise<unknown>) =>
            value.call(object, (connection: Connection) => work(counted(connection)));
        }
        return (...args: unknown[]) => {
          if (left-- <= 0) throw new Killed();
          return value.apply(object, args);
        };
      },
    });
  return { database: counted(database), isDead: () => left < 0 };
}

describe.each(DATABASES)('on $name', (testDatabase) => {
  test('a pull that is killed between any two statements leaves the old catalogue or the new one, with its state', async () => {
    await using shops = await Shops.open(testDatabase, { programmes: 1 });
    await shops.pull('awin');
    const snapshot = async () => ({
      offered: await shops.offered(),
      state: (await shops.stores.pulls.list()).map(({ completeThroughMs }) => completeThroughMs),
    });
    const before = await snapshot();
    shops.nowMs += DAY_MS;
    const startedMs = shops.nowMs;
    const database = openDatabase(shops.url, COMMAND_OPTIONS);
    try {
      for (let statements = 0; ; statements++) {
        expect(statements).toBeLessThan(200);
        shops.nowMs = startedMs;
        const { database: dying, isDead } = dyingDatabase(database, statements);
        const clock = () => shops.nowMs;
        const stores: Stores = {
          ...shops.stores,
          catalogue: catalogueStore(dying, clock),
          imports: importLog(dying, clock),
          pulls: pullStore(dying, clock),
        };
        const result = await shops.pull('awin', {}, stores).catch((error) => {
          if (error instanceof Killed || error instanceof SuppressedError) return undefined;
          throw error;
        });
        const after = await snapshot();
        const isNew = after.state[0] !== before.state[0];
        expect(after.offered).toEqual(isNew ? shops.truth('awin') : before.offered);
        if (isDead()) {
          if (isNew) break;
          continue;
        }
        expect(result?.[0]?.error).toBeNull();
        break;
      }
      expect(await shops.offered()).toEqual(shops.truth('awin'));
    } finally {
      await database.close();
    }
  });
});
