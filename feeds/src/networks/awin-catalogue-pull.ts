// Awin: fetching programmes and offers, and the commission groups of each programme with one request per programme.

import { ACCEPT_JSON, type CataloguePull, get, numberedPages, onePage } from '../pull/catalogue-pull.ts';
import type { SourceOf } from '../source/source-file.ts';

const ORIGIN = 'https://api.awin.com';
const PAGE_SIZE = 200;
const FILTERS = { membership: 'joined', status: 'active', type: 'all' };

export function awinCatalogue({ account }: SourceOf<'awin'>): CataloguePull {
  const publisher = encodeURIComponent(account);
  const path = `${ORIGIN}/publishers/${publisher}`;
  return {
    lists: [
      {
        feed: 'programmes',
        ...onePage,
        request: () => get(`${path}/programmes`, { relationship: 'joined' }),
      },
      {
        feed: 'offers',
        ...numberedPages,
        // Not a typo: only this path has `publisher` in the singular.
        request: (position = '1') => ({
          method: 'POST',
          url: `${ORIGIN}/publisher/${publisher}/promotions`,
          headers: { ...ACCEPT_JSON, 'Content-Type': 'application/json' },
          body: JSON.stringify({
            filters: FILTERS,
            pagination: { page: Number(position), pageSize: PAGE_SIZE },
          }),
        }),
      },
    ],
    listsOf: (advertiserId) => [
      {
        feed: 'commission-groups',
        advertiserId,
        isOneRow: true,
        ...onePage,
        request: () => get(`${path}/commissiongroups`, { advertiserId, extraConditionsDetails: 'true' }),
      },
    ],
  };
}
