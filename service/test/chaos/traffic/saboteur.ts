// Changes the row that a poller's cursor points to, between two pages. Does nothing while another writer holds the lock.

import type { Random } from '@offerbook/sandbox/random.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { isStorageError } from '../../../src/domain/storage-error.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import type { Ledger } from '../model/ledger.ts';
import type { OrganisationName } from '../model/world.ts';
import { carryOut } from './import-order.ts';

/** `stores` must have a short lock timeout, because pollers wait for the change. */
export function saboteur(stores: Stores, ledger: Ledger, random: Random) {
  /** One change at a time: each needs a second connection while it holds the first. */
  let last: Promise<unknown> = Promise.resolve();

  async function change(organisation: OrganisationName, only: Uuid): Promise<void> {
    const { number, stamped, violation, acknowledge } = ledger.open(organisation);
    const clockOffsetMs = random.whole(-3_600_000, 3_600_000);
    const [result] = await carryOut(
      stores,
      {
        parts: [{ number, organisation }],
        ...{ rows: 1, only, ending: 'good', clockOffsetMs, pauseMs: 0, seed: number },
      },
      { stamped: (_, stampMs) => stamped(stampMs), violation },
    );
    if (result !== undefined) acknowledge(result);
  }

  /** Returns false if the database was busy or stopping. The change may or may not have been committed. */
  return (organisation: OrganisationName, id: Uuid): Promise<boolean> => {
    const changed = last
      .then(() => change(organisation, id))
      .then(
        () => true,
        (error: unknown) => {
          if (isStorageError(error)) return false;
          throw error;
        },
      );
    last = changed.catch(() => {});
    return changed;
  };
}
