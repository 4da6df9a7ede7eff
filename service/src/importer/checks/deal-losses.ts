// Counts the deals that have not ended but are missing from a pulled catalogue. If most of them are missing at once, the network
// has probably sent an incomplete response.

import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { printCount } from '@offerbook/wire/count.ts';
import { DEAL_LISTS, forEachDealList } from '@offerbook/wire/deals.ts';
import { Refused } from '@offerbook/wire/failures.ts';
import { timestampMs } from '@offerbook/wire/timestamp.ts';

const LOST_PERCENT_MAX = 50;
/** Below this number, losing most deals at once is not suspicious. */
const DEALS_MIN = 10;
const NAMES = { cashbackOffers: 'cashback offers', coupons: 'coupons', promotions: 'promotions' };

export function dealLosses(nowMs: number) {
  const counts = forEachDealList(() => ({ before: 0, lost: 0 }));
  return {
    /** `document` is the stored retailer; undefined if the retailer is new. */
    compare(document: string | undefined, now: Retailer, isSame: boolean): void {
      if (document === undefined) return;
      const before: Retailer = isSame ? now : JSON.parse(document);
      for (const list of DEAL_LISTS) {
        const listed = new Set<string>(now[list].map(({ id }) => id));
        for (const deal of before[list]) {
          if ('endDate' in deal && timestampMs(deal.endDate) <= nowMs) continue;
          counts[list].before++;
          if (!listed.has(deal.id)) counts[list].lost++;
        }
      }
    },

    /** Throws Refused if most deals of a kind are gone. `what` is the subject of the message. */
    requireFew(what: string): void {
      for (const list of DEAL_LISTS) {
        const { before, lost } = counts[list];
        if (before < DEALS_MIN || lost * 100 <= before * LOST_PERCENT_MAX) continue;
        throw new Refused(
          `${what} would withdraw ${printCount(lost)} of ${printCount(before)} ${NAMES[list]}, more than ${LOST_PERCENT_MAX} %; nothing was imported. The network may have sent an incomplete catalogue. If the deals are gone, add --allow-withdrawals`,
        );
      }
    },
  };
}
