// How the sandbox puts its data into the database: through the same imports as in production, each entered in the book.

import type { Sale } from '@offerbook/sandbox/wire.ts';
import manifest from '../../../../package.json';
import { ClickIds } from '../../../activation/click-id.ts';
import type { ImportOrigin } from '../../../domain/books.ts';
import { systemClock } from '../../../domain/clock.ts';
import type { Organisation, Stores } from '../../../domain/stores.ts';
import { printTimestamp } from '../../../domain/timestamp.ts';
import type { Transaction } from '../../../domain/transaction.ts';
import type { Uuid } from '../../../domain/uuid.ts';
import { type ImportSource, sourceFrom } from '../../../importer/formats/import-source.ts';
import { importCatalogue } from '../../../importer/import-catalogue.ts';
import { type ImportReport, InvalidRows } from '../../../importer/import-report.ts';
import { importTransactions } from '../../../importer/import-transactions.ts';
import { recordImport } from '../../../importer/record-import.ts';
import { currentUser } from '../../current-user.ts';
import type { Imports } from './world.ts';

export function importsInto(stores: Stores, org: Organisation): Imports {
  const ndjson = (rows: readonly unknown[]) =>
    sourceFrom(rows.map((row) => `${JSON.stringify(row)}\n`).join(''), 'synthetic data');
  const recorded = (
    what: Pick<ImportOrigin, 'kind' | 'orgId'>,
    source: ImportSource,
    work: (importId: number) => Promise<ImportReport>,
  ) => {
    const by = { by: currentUser(), source: 'sandbox', fileName: source.name, version: manifest.version };
    return recordImport(stores.imports, { ...what, ...by }, source, work);
  };
  const sale = async (id: string) => {
    const [current] = await stores.history.versions(id as Uuid);
    return current && withoutStamp(JSON.parse(current.document) as Transaction);
  };
  return {
    sale,
    async catalogue(retailers) {
      const source = ndjson(retailers);
      await recorded({ kind: 'catalogue', orgId: null }, source, (importId) =>
        importCatalogue(stores.catalogue, source, { importId, allowWithdrawals: true }),
      );
    },
    async transactions(changes, stamps) {
      const rows = changes.map(({ transaction, atMs }) => ({
        ...transaction,
        updatedAt: printTimestamp(atMs),
      }));
      const source = ndjson(rows);
      await recorded({ kind: 'transactions', orgId: org.id }, source, (importId) =>
        importTransactions(stores.transactions, org, source, systemClock, {
          importId,
          preserveUpdatedAt: stamps === 'as they happened',
        }),
      );
    },
    async dealOf(clickId) {
      const click = new ClickIds(await stores.clickKey()).parse(clickId);
      return click && (await stores.clicks.find([click.id])).get(click.id)?.dealId;
    },
    async purchase(purchase) {
      const source = ndjson([purchase]);
      const attributor = { ids: new ClickIds(await stores.clickKey()), clicks: stores.clicks };
      try {
        await recorded({ kind: 'transactions', orgId: org.id }, source, (importId) =>
          importTransactions(stores.transactions, org, source, systemClock, { importId, attributor }),
        );
      } catch (error) {
        if (error instanceof InvalidRows) return undefined;
        throw error;
      }
      return sale(purchase.id);
    },
  };
}

function withoutStamp({ updatedAt: _, ...sale }: Transaction): Sale {
  return sale;
}
