// Reads the data for the console's page about one transaction.

import {
  NO_SUCH_TRANSACTION,
  transactionPage as render,
  type ShownVersion,
} from '@offerbook/site/console/transaction-page.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { parseUuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../../domain/stores.ts';
import type { TransactionVersion } from '../../domain/transaction.ts';
import type { MakePage } from '../page-context.ts';

export const transactionPage: MakePage = async ({ stores: openStores, parameters, catalogue }) => {
  const id = parseUuid(parameters.id ?? '');
  const stores = await openStores();
  const versions = id === undefined ? [] : await stores.history.versions(id);
  const shown = await withImports(stores, versions);
  const [current] = shown;
  if (current === undefined || versions[0] === undefined) return NO_SUCH_TRANSACTION;
  const { cashbackOfferId, couponId, promotionId } = current.transaction;
  const dealId = cashbackOfferId ?? couponId ?? promotionId;
  const { retailers, retailerOfDeal } = await catalogue.read(stores);
  const stored = await stores.transactions.findRetailers([current.transaction.id]);
  const retailerId = stored.get(current.transaction.id) ?? (dealId && retailerOfDeal.get(dealId));
  return render({
    transaction: current.transaction,
    orgName: versions[0].orgName,
    retailer: retailerId ? (retailers.get(retailerId) ?? retailerId) : undefined,
    versions: shown,
  });
};

async function withImports(
  { imports }: Stores,
  versions: readonly TransactionVersion[],
): Promise<ShownVersion[]> {
  const found = new Map<number | null, ShownVersion['import']>();
  for (const id of new Set(versions.map(({ importId }) => importId)))
    found.set(id, id === null ? undefined : await imports.find(id));
  return versions.map(({ fromMs, untilMs, importId, document }) => ({
    transaction: JSON.parse(document) as Transaction,
    fromMs,
    untilMs,
    import: found.get(importId),
  }));
}
