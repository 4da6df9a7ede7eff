// The correct result for a client of a fake network: every sale with the network's ids, its status and its amounts. It is
// computed from the versions of the sales, not from the rows that the network sends.

import { ACCOUNTS, type NetworkName } from './accounts.ts';
import { actionIdOf, inAccountCurrency } from './cj.ts';
import { actionId } from './impact.ts';
import type { Ledger } from './ledger.ts';
import { type Amounts, changesOf, type NetworkSale, NOTHING, versionAt } from './network-sale.ts';
import { campaignId, conversionId } from './partnerize.ts';
import { difference, orderId } from './rakuten.ts';

export type TrueSale = Omit<ReturnType<typeof whole>, 'country'> & {
  /** Undefined if the network does not report it. */
  readonly country: string | undefined;
};

/**
 * The sales of a network at this time. If a network reports corrections as separate rows, a client needs the first row of a
 * sale to interpret them. Sales that were reported before `knownSinceMs` can therefore be left out.
 */
export function trueSales(
  ledger: Ledger,
  network: NetworkName,
  nowMs: number,
  knownSinceMs = Number.NEGATIVE_INFINITY,
): TrueSale[] {
  return ledger
    .sales(network, nowMs)
    .filter(({ versions }) => versions[0].atMs >= knownSinceMs)
    .map((sale) => TRUTHS[network](sale, nowMs));
}

type Truth = (sale: NetworkSale, nowMs: number) => TrueSale;

function whole(sale: NetworkSale, nowMs: number, id: string) {
  const { status, orderValue, commission } = versionAt(sale, nowMs);
  const advertiserId = String(sale.advertiserId);
  const { currency, country, soldMs, subId } = sale;
  // When the network listed the sale for the first time.
  const reportedMs = sale.versions[0].atMs;
  return { id, advertiserId, status, orderValue, commission, currency, country, soldMs, reportedMs, subId };
}

const TRUTHS: Readonly<Record<NetworkName, Truth>> = {
  awin: (sale, nowMs) => whole(sale, nowMs, String(sale.key)),
  impact: (sale, nowMs) => whole(sale, nowMs, actionId(sale)),
  partnerize: (sale, nowMs) => ({
    ...whole(sale, nowMs, conversionId(sale)),
    advertiserId: campaignId(sale.advertiserId),
  }),
  cj: (sale, nowMs) => {
    const found = whole(sale, nowMs, actionIdOf(sale));
    // A declined sale keeps the amounts of its original record.
    const amounts = inAccountCurrency(sale, found.status === 'DECLINED' ? sale.versions[0] : found);
    return { ...found, ...amounts, currency: ACCOUNTS.cj.currency };
  },
  rakuten: (sale, nowMs) => {
    const found = whole(sale, nowMs, orderId(sale));
    const isDeclined = found.status === 'DECLINED';
    return {
      ...found,
      id: `${found.advertiserId}:${found.id}`,
      // Rakuten never confirms a sale.
      status: isDeclined ? 'DECLINED' : 'PENDING',
      ...(isDeclined ? everBought(sale, nowMs) : {}),
      country: undefined,
    };
  },
};

/** Sum of the first amounts and all later increases. A declined order reports no other amounts. */
function everBought(sale: NetworkSale, nowMs: number): Amounts {
  let bought = NOTHING;
  for (const { before, after } of changesOf(sale, nowMs)) {
    const loss = difference(before, after, sale.decimals);
    if (loss.orderValue <= 0 && loss.commission <= 0) bought = difference(bought, loss, sale.decimals);
  }
  return bought;
}
