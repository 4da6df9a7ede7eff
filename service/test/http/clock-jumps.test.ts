// The system clock is set forward and back while the service runs: only what depends on the time of day follows.

import { expect, test } from 'bun:test';
import { parseInstant } from '@offerbook/wire/timestamp.ts';
import { coupon, offer, retailer, timestamp, transaction } from '../support/fixtures.ts';
import { TestNode } from '../support/test-node.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.parse('2026-11-14T12:00:00Z');

test('limits, expiry, the catalogue and polling work correctly when the clock jumps forward and back', async () => {
  let nowMs = START_MS;
  await using node = await TestNode.start({ clock: () => nowMs, settings: { rateLimitPrivate: 3 } });
  await node.catalogue([
    retailer(1, {
      cashbackOffers: [offer(11)],
      coupons: [
        coupon(21, { endDate: timestamp('2026-11-14T13:00:00') }),
        coupon(22, { startDate: timestamp('2026-11-14T13:00:00') }),
      ],
    }),
  ]);
  const lasting = await node.token('public');
  const expiring = await node.token('public', 'acme', START_MS + HOUR_MS);
  const limited = await node.token('private');
  const coupons = async () => {
    const response = await node.get('/v1/coupons/', lasting);
    return ((await response.json()) as { data: { code: string }[] }).data.map(({ code }) => code);
  };
  const status = async (path: string, token: string) => (await node.get(path, token)).status;
  const spent = await Promise.all([1, 2, 3, 4].map(() => status('/v1/transactions/', limited)));
  expect(spent.sort()).toEqual([200, 200, 200, 429]);

  const stamps: number[] = [];
  const seen: unknown[] = [];
  for (const [number, jumpMs] of [
    0,
    2 * HOUR_MS,
    -2 * HOUR_MS,
    24 * HOUR_MS,
    -365 * 24 * HOUR_MS,
  ].entries()) {
    nowMs += jumpMs;
    await node.transactions([transaction(100 + number)]);
    const page = await node.get('/v1/transactions/', await node.token('private'));
    stamps.push(parseInstant(page.headers.get('Complete-Through') ?? '')?.ms ?? 0);
    const refused = await node.get('/v1/transactions/', limited);
    const waitS = Number(refused.headers.get('Retry-After'));
    seen.push({
      coupons: await coupons(),
      expiring: await status('/v1/coupons/', expiring),
      limited: refused.status,
      waitIsSane: waitS >= 1 && waitS <= 60,
      ready: await status('/readyz', ''),
    });
  }
  const before = { coupons: ['CODE21'], expiring: 200, limited: 429, waitIsSane: true, ready: 200 };
  const after = { ...before, coupons: ['CODE22'], expiring: 401 };
  expect(seen).toEqual([before, after, before, after, before]);
  // Stamps increase even if the clock goes back, and pages are complete through them.
  expect(stamps).toEqual(stamps.toSorted((a, b) => a - b));
  expect(new Set(stamps).size).toBe(stamps.length);

  // An import after the clock was set back is reloaded like any other.
  await node.catalogue([retailer(2, { coupons: [coupon(23)] })]);
  expect(await coupons()).toEqual(['CODE23']);
});
