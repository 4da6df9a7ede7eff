// impact.com: fetching campaigns, contracts and promo codes, and the deals of each campaign.

import {
  ACCEPT_JSON,
  type CatalogueList,
  type CataloguePull,
  get,
  numberedPages,
} from '../pull/catalogue-pull.ts';
import type { SourceOf } from '../source/source-file.ts';
import { isNothing, ORIGIN, PAGE_SIZE } from './impact-pull.ts';

export function impactCatalogue({ account }: SourceOf<'impact'>): CataloguePull {
  const list = (feed: string, path: string, query: Readonly<Record<string, string>> = {}): CatalogueList => ({
    feed,
    ...numberedPages,
    request: (position = '1') =>
      get(
        `${ORIGIN}/Mediapartners/${encodeURIComponent(account)}/${path}`,
        { IrVersion: '16', PageSize: String(PAGE_SIZE), Page: position, ...query },
        { ...ACCEPT_JSON, 'IR-Version': '16' },
      ),
    readTotal: (response) => response.findWholeNumber('@total'),
  });
  return {
    lists: [
      list('campaigns', 'Campaigns', { InsertionOrderStatus: 'Active' }),
      list('contracts', 'Contracts', { Status: 'ACTIVE' }),
      { ...list('promo-codes', 'PromoCodes'), isNothing },
    ],
    listsOf: (advertiserId) => [
      {
        ...list('deals', `Campaigns/${encodeURIComponent(advertiserId)}/Deals`, { State: 'ACTIVE' }),
        advertiserId,
        isNothing,
      },
    ],
  };
}
