// Changes the row that a poller's cursor points to, between two pages, or deletes it, which no operation of the service does.
// Does nothing while another writer holds the lock.

import type { Random } from '@offerbook/sandbox/random.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { isStorageError } from '../../../src/domain/storage-error.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import type { Database } from '../../../src/storage/database.ts';
import { DailySums } from '../../../src/storage/stores/daily-totals.ts';
import type { Ledger } from '../model/ledger.ts';
import { getOrganisation, keptIdsOf, type OrganisationName } from '../model/world.ts';
import { carryOut } from './import-order.ts';

const FIND_SQL = 'SELECT document FROM transactions WHERE id = $1::uuid AND org_id = $2';
const DELETE_SQL = 'DELETE FROM transactions WHERE id = $1::uuid AND org_id = $2';

export type Strike = 'changed' | 'deleted' | 'nothing';

export class Saboteur {
  /** Every id that was deleted; some may have been imported again. */
  readonly deleted = new Set<Uuid>();
  readonly #stores: Stores;
  readonly #database: Database;
  readonly #ledger: Ledger;
  readonly #random: Random;
  /** One strike at a time: each needs a second connection while it holds the first. */
  #lastStrike: Promise<unknown> = Promise.resolve();

  /** `stores` and `database` must have a short lock timeout, because pollers wait for the strike. */
  constructor(stores: Stores, database: Database, ledger: Ledger, random: Random) {
    this.#stores = stores;
    this.#database = database;
    this.#ledger = ledger;
    this.#random = random;
  }

  strike(organisation: OrganisationName, id: Uuid): Promise<Strike> {
    const strike = this.#lastStrike.then(() => this.#strike(organisation, id));
    this.#lastStrike = strike.catch(() => {});
    return strike;
  }

  async #strike(organisation: OrganisationName, id: Uuid): Promise<Strike> {
    try {
      if (this.#random.chance(0.7) || keptIdsOf(organisation).includes(id)) {
        await this.#change(organisation, id);
        return 'changed';
      }
      await this.#delete(organisation, id);
      return 'deleted';
    } catch (error) {
      // The database may be busy or stopping. The strike may or may not have been committed.
      if (isStorageError(error)) return 'nothing';
      throw error;
    }
  }

  async #change(organisation: OrganisationName, id: Uuid): Promise<void> {
    const entry = this.#ledger.open(organisation);
    const results = await carryOut(
      this.#stores,
      {
        parts: [{ number: entry.number, organisation }],
        rows: 1,
        ending: 'good',
        clockOffsetMs: this.#random.whole(-3_600_000, 3_600_000),
        pauseMs: 0,
        seed: entry.number,
        only: id,
      },
      { stamped: (_, stampMs) => entry.stamped(stampMs), violation: entry.violation },
    );
    for (const result of results) entry.acknowledge(result);
  }

  async #delete(organisation: OrganisationName, id: Uuid): Promise<void> {
    const { id: orgId } = await getOrganisation(this.#stores, organisation);
    await this.#database.write(async (connection) => {
      // Hold the clock's lock like every writer, so that the row does not vanish between an import's read and its write.
      const lock = ` ${this.#database.sql.forUpdate}`;
      await connection.all(`SELECT last_stamp FROM organisations WHERE id = $1${lock}`, orgId);
      this.deleted.add(id);
      const totals = new DailySums();
      for (const { document } of await connection.all<{ document: string }>(FIND_SQL, id, orgId)) {
        totals.addSale(orgId, JSON.parse(document), -1);
      }
      await totals.store(connection);
      await connection.all(DELETE_SQL, id, orgId);
    });
  }
}
