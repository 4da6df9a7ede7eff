// Checks a source without importing anything: sends one small request and reads its response.

import { ConvertRun } from '@offerbook/feeds/convert-run.ts';
import { openFeeds } from '@offerbook/feeds/networks.ts';
import { TransactionConversion } from '@offerbook/feeds/transactions/convert-transactions.ts';
import { HOUR_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import type { Clock } from '../domain/clock.ts';
import type { RequestStore } from '../domain/pull.ts';
import { networkClient, type PullableSource, type RequestContext } from './network-client.ts';
import { RequestFailed } from './network-failures.ts';
import { TemporaryRows } from './temporary-rows.ts';

/**
 * For a check that must neither write to the database nor wait. Its request does not count towards the shared budget, which
 * leaves 20 % of the network's limit unused.
 */
export function withoutWaiting(clock: Clock): RequestStore {
  return {
    reserveRequest: async () => clock(),
    blockRequests: async () => {
      throw new RequestFailed('reject', "the network's rate limit has been reached; try again in a minute");
    },
    countRequest: async () => {},
  };
}

/** Returns how many milliseconds this machine's clock is ahead of the network's; undefined if the network sends no time. */
export async function checkSource(
  pullable: PullableSource,
  context: RequestContext,
): Promise<number | undefined> {
  const { pull, source, overlay, coupons } = pullable;
  const { clock } = context;
  const [first] = pull.streams;
  const toMs = clock() - HOUR_MS;
  const feed = openFeeds(source, clock()).transactions;
  if (first === undefined || feed === undefined) return undefined;
  const rules = { source, overlay, coupons, organisation: undefined };
  using rows = new TemporaryRows();
  const sales = new TransactionConversion(new ConvertRun([], {}), feed, rules, rows, { pages: pull });
  const request = pull.request(first.name, { fromMs: toMs - MINUTE_MS, toMs }, undefined);
  const page = await networkClient(pullable, context).fetch(request, (body, header) =>
    sales.addPage('the response', body, header),
  );
  const dateMs = Date.parse(page.header('Date') ?? '');
  return Number.isNaN(dateMs) ? undefined : clock() - dateMs;
}
