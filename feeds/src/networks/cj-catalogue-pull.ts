// CJ: fetching the advertisers that the publisher has joined, and their links with promotions. Both lists are XML.

import {
  ACCEPT_XML,
  type CatalogueList,
  type CataloguePull,
  get,
  numberedPages,
} from '../pull/catalogue-pull.ts';
import type { SourceOf } from '../source/source-file.ts';

const PAGE_SIZE = 100;

/** `website` is the id of the publisher's site (PID). */
export function cjCatalogue({ account }: SourceOf<'cj'>, website: string): CataloguePull {
  const list = (feed: string, service: string, query: Readonly<Record<string, string>>): CatalogueList => ({
    feed,
    ...numberedPages,
    request: (position = '1') =>
      get(
        `https://${service}.api.cj.com/v2/${service}`,
        {
          ...query,
          'advertiser-ids': 'joined',
          'page-number': position,
          'records-per-page': String(PAGE_SIZE),
        },
        ACCEPT_XML,
      ),
  });
  return {
    lists: [
      list('advertisers', 'advertiser-lookup', { 'requestor-cid': account }),
      list('links', 'link-search', { 'website-id': website }),
    ],
  };
}
