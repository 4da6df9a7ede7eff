// Writes the sandbox's data with the imports that production uses, and records each import in the import log.

import type { Purchase } from '@offerbook/sandbox/purchase.ts';
import type { Change } from '@offerbook/sandbox/sale-course.ts';
import type { Retailer, Sale } from '@offerbook/sandbox/wire.ts';
import { type ImportSource, sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { ClickIds } from '../../../activation/click-id.ts';
import { VERSION } from '../../../domain/build.ts';
import type { Clock } from '../../../domain/clock.ts';
import type { ImportKind } from '../../../domain/import-log.ts';
import type { Organisation } from '../../../domain/organisation.ts';
import type { Stores } from '../../../domain/stores.ts';
import { importCatalogue } from '../../../importer/import-catalogue.ts';
import { type ImportReport, InvalidRows, recordImport } from '../../../importer/import-report.ts';
import { importTransactions } from '../../../importer/import-transactions.ts';
import { currentUser } from '../../current-user.ts';

const CLICK_ATTEMPTS_MAX = 50;
const CLICK_PAUSE_MS = 100;

export function importsInto(stores: Stores, org: Organisation, clock: Clock) {
  const ndjson = (rows: readonly unknown[]) =>
    sourceFrom(rows.map((row) => `${JSON.stringify(row)}\n`).join(''), 'synthetic data');
  const recorded = (
    kind: ImportKind,
    source: ImportSource,
    work: (importId: number) => Promise<ImportReport>,
  ) => {
    const origin = {
      kind,
      orgId: kind === 'transactions' ? org.id : null,
      by: currentUser(),
      source: 'sandbox',
      fileName: source.name,
      version: VERSION,
    };
    return recordImport(stores.imports, origin, source, work);
  };
  const sale = async (id: string): Promise<Sale | undefined> => {
    const [current] = await stores.history.versions(id as Uuid);
    if (current === undefined) return undefined;
    const { updatedAt: _, ...stored } = JSON.parse(current.document) as Transaction;
    return stored;
  };
  return {
    sale,
    async catalogue(retailers: readonly Retailer[]) {
      const source = ndjson(retailers);
      await recorded('catalogue', source, (importId) =>
        importCatalogue(stores.catalogue, source, { importId, allowWithdrawals: true }),
      );
    },
    /**
     * Use 'as they happened' only before the server starts: a client that has polled past these stamps would miss the
     * changes.
     */
    async transactions(changes: readonly Change[], stamps: 'now' | 'as they happened') {
      const rows = changes.map(({ transaction, atMs }) => ({
        ...transaction,
        updatedAt: printTimestamp(atMs),
      }));
      const source = ndjson(rows);
      await recorded('transactions', source, (importId) =>
        importTransactions(stores, org, source, clock, {
          importId,
          preserveUpdatedAt: stamps === 'as they happened',
        }),
      );
    },
    /**
     * Returns the id of the retailer or deal that a click activated; undefined if the click is unknown. Waits for a click that is
     * still in the spool, because a sale without its click has no user.
     */
    async dealOf(clickId: string): Promise<string | undefined> {
      const click = new ClickIds(await stores.clickKey()).parse(clickId);
      if (click === undefined) return undefined;
      for (let attempts = 1; ; attempts++) {
        const dealId = (await stores.clicks.find([click.id])).get(click.id)?.dealId;
        if (dealId !== undefined || attempts === CLICK_ATTEMPTS_MAX) return dealId;
        await Bun.sleep(CLICK_PAUSE_MS);
      }
    },
    /** Imports a purchase and returns its transaction; undefined if the click is unknown. */
    async purchase(purchase: Purchase): Promise<Sale | undefined> {
      const source = ndjson([purchase]);
      try {
        await recorded('transactions', source, (importId) =>
          importTransactions(stores, org, source, clock, { importId }),
        );
      } catch (error) {
        if (error instanceof InvalidRows) return undefined;
        throw error;
      }
      return sale(purchase.id);
    },
  };
}
