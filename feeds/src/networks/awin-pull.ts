// Awin: fetching transactions. One request returns a whole window as one list. Each date filter finds only one kind of change, so
// every filter is a stream of its own.

import { MINUTE_MS } from '@offerbook/wire/time.ts';
import { bearerAuthorisation } from '../pull/network-access.ts';
import { printSecond, type SalePull, stream } from '../pull/sale-pull.ts';
import type { SourceOf } from '../source/source-file.ts';

export function awinPull({ account }: SourceOf<'awin'>): SalePull {
  return {
    // Awin accepts 31 days, both ends included.
    streams: ['transaction', 'validation', 'amendment'].map((name) => stream(name, 30)),
    reread: stream('reread', 30),
    rate: { requests: 20, perMs: MINUTE_MS },
    request: (name, { fromMs, toMs }) => {
      const query = new URLSearchParams({
        startDate: printSecond(fromMs),
        endDate: printSecond(toMs),
        timezone: 'UTC',
        dateType: name === 'reread' ? 'transaction' : name,
      });
      return {
        method: 'GET',
        url: `https://api.awin.com/publishers/${encodeURIComponent(account)}/transactions/?${query}`,
        headers: { Accept: 'application/json' },
      };
    },
    next: () => undefined,
    authorise: ({ token = '' }) => bearerAuthorisation(token),
  };
}
