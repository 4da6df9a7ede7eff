// Rakuten Advertising: fetching all advertisers, the partnerships (other advertisers are left out), offers and coupons.

import {
  ACCEPT_XML,
  type CatalogueList,
  type CataloguePull,
  get,
  numberedPages,
} from '../pull/catalogue-pull.ts';
import { ORIGIN } from './rakuten-pull.ts';

const PAGE_SIZE = 200;
const COUPONS_PER_PAGE = 500;

export function rakutenCatalogue(): CataloguePull {
  // The number of the first page is 0 in some lists and 1 in others, so the first request omits it.
  const list = (feed: string, path: string, query: Readonly<Record<string, string>> = {}): CatalogueList => ({
    feed,
    ...numberedPages,
    request: (page) =>
      get(`${ORIGIN}${path}`, {
        ...query,
        limit: String(PAGE_SIZE),
        ...(page === undefined ? {} : { page }),
      }),
    readTotal: (response) => response.findWholeNumber('_metadata.total'),
  });
  return {
    lists: [
      list('advertisers', '/v2/advertisers'),
      list('partnerships', '/v1/partnerships', { partner_status: 'active' }),
      list('offers', '/v1/offers', { offer_status: 'active' }),
      {
        feed: 'coupons',
        ...numberedPages,
        request: (position = '1') =>
          get(
            `${ORIGIN}/coupon/1.0`,
            { resultsperpage: String(COUPONS_PER_PAGE), pagenumber: position },
            ACCEPT_XML,
          ),
        readTotal: (response) => response.findWholeNumber('TotalMatches'),
      },
    ],
  };
}
