// Partnerize: fetching the campaigns that have approved the publisher, and the commissions and vouchers of each campaign.

import { type CatalogueList, type CataloguePull, get, onePage } from '../pull/catalogue-pull.ts';
import { unexpected } from '../pull/unexpected.ts';
import type { SourceOf } from '../source/source-file.ts';
import { findNext, ORIGIN, PAGE_SIZE, readPosition } from './partnerize-pull.ts';

export function partnerizeCatalogue({ account }: SourceOf<'partnerize'>): CataloguePull {
  const publisher = encodeURIComponent(account);
  const list = (feed: string, path: string, advertiserId?: string): CatalogueList => ({
    feed,
    ...(advertiserId === undefined ? {} : { advertiserId }),
    request: (position) => get(`${ORIGIN}${path}`, { limit: String(PAGE_SIZE), ...readPosition(position) }),
    next: (page, position) => {
      const next = findNext(page, position);
      if (next === undefined && page.info.hasMore === true && page.rowCount > 0)
        throw unexpected('the response', 'does not indicate where the next page starts');
      return next;
    },
  });
  return {
    lists: [list('campaigns', `/user/publisher/${publisher}/campaign/a.json`)],
    listsOf: (advertiserId) => {
      const campaign = encodeURIComponent(advertiserId);
      const commissions = `${ORIGIN}/v2/campaigns/${campaign}/publishers/${publisher}/commissions/active`;
      return [
        { feed: 'commissions', advertiserId, ...onePage, request: () => get(commissions, {}) },
        list('vouchers', `/user/publisher/${publisher}/campaign/${campaign}/voucher`, advertiserId),
      ];
    },
  };
}
