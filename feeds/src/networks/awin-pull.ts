// Awin's requests. Sales: one request returns a whole window as one list; each date filter finds only one kind of change, so every
// filter is a stream of its own. Catalogue: programmes, offers, and the commission groups of each programme with one request per
// programme.

import { MINUTE_MS } from '@offerbook/wire/time.ts';
import { printSecond } from '@offerbook/wire/timestamp.ts';
import {
  bearerAuthorisation,
  type CataloguePull,
  get,
  numberedPages,
  onePage,
  postJson,
  type SalePull,
  stream,
} from '../pull/network-pull.ts';
import type { SourceOf } from '../source/source-file.ts';

const ORIGIN = 'https://api.awin.com';
const PAGE_SIZE = 200;
const FILTERS = { membership: 'joined', status: 'active', type: 'all' };

export function pullSales({ account }: SourceOf<'awin'>): SalePull {
  return {
    // Awin accepts 31 days, both ends included.
    streams: ['transaction', 'validation', 'amendment'].map((name) => stream(name, 30)),
    reread: stream('reread', 30),
    rate: { requests: 20, perMs: MINUTE_MS },
    request: (name, { fromMs, toMs }) =>
      get(`${ORIGIN}/publishers/${encodeURIComponent(account)}/transactions/`, {
        startDate: printSecond(fromMs),
        endDate: printSecond(toMs),
        timezone: 'UTC',
        dateType: name === 'reread' ? 'transaction' : name,
      }),
    next: () => undefined,
    authorise: ({ token = '' }) => bearerAuthorisation(token),
  };
}

export function pullCatalogue({ account }: SourceOf<'awin'>): CataloguePull {
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
        request: (position = '1') =>
          postJson(`${ORIGIN}/publisher/${publisher}/promotions`, {
            filters: FILTERS,
            pagination: { page: Number(position), pageSize: PAGE_SIZE },
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
