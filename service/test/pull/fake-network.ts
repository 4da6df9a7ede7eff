// The sandbox's fake networks with rows and single responses that a test chooses, such as an invalid amount or the sub-id of
// another organisation.

import { ACCOUNTS } from '@offerbook/sandbox/networks/accounts.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import type { Row } from '../../../feeds/test/fixture.ts';
import { ServedNetworks } from './served-networks.ts';

/** A row, with the times that the network's date filters compare. */
export interface Listed {
  readonly row: Row;
  readonly times: Readonly<Record<string, number>>;
}

export interface SentRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

export const PULL_SECRETS: Readonly<Record<string, Readonly<Record<string, string>>>> = Object.fromEntries(
  Object.entries(ACCOUNTS).map(([network, { credentials }]) => [network, credentials]),
);

export class FakeNetwork extends ServedNetworks {
  readonly rows: Listed[];
  readonly requests: SentRequest[] = [];
  /** Responses to the next requests; undefined answers normally. */
  readonly planned: (((request: SentRequest) => Response | undefined | Promise<Response>) | undefined)[] = [];
  override intercept = async (request: Request) => {
    const { pathname, searchParams } = new URL(request.url);
    const sent = { path: pathname, query: searchParams, body: await request.clone().text() };
    this.requests.push(sent);
    return this.planned.shift()?.(sent);
  };

  constructor(clock: () => number = Date.now) {
    const rows: Listed[] = [];
    super({
      ...{ clock, sinceMs: 0, density: { salesPerDay: 0, cellMs: DAY_MS } },
      ...{ accounts: ['77777', '88888'], pageSizeMax: 2, programmes: 1, areRatesEnforced: false },
      rows: () => rows.map(({ row, times }) => ({ times, row: () => row })),
    });
    this.rows = rows;
  }
}
