// The sandbox's data over time. When the sandbox starts, openWorld() fills the database up to the present; after that, each
// call of beat() adds the changes since the previous call. imports.ts writes them.

import { LivingSales, lively, SPARSE } from '@offerbook/sandbox/living-sales.ts';
import { Market } from '@offerbook/sandbox/market.ts';
import { type Article, makeArticles, makePurchase, type Purchase } from '@offerbook/sandbox/purchase.ts';
import { fasterSince } from '@offerbook/sandbox/sale-course.ts';
import { makeCatalogue } from '@offerbook/sandbox/synthetic-catalogue.ts';
import type { Retailer } from '@offerbook/sandbox/wire.ts';
import { DAY_MS, HOUR_MS } from '@offerbook/wire/time.ts';
import type { Clock } from '../../../domain/clock.ts';
import type { Organisation } from '../../../domain/organisation.ts';
import type { Stores } from '../../../domain/stores.ts';
import { ALL_STAMPS } from '../../../domain/transaction.ts';
import { importsInto } from './imports.ts';

const HISTORY_DAYS = 90;
/** Longer gaps, for example because the sandbox was stopped or the computer was asleep, are filled with fewer sales. */
const PAUSE_MS = 60_000;

interface WorldOptions {
  readonly seed: number;
  readonly speed: number;
  readonly clock: Clock;
  readonly logoUrl: (retailerId: string) => string;
  /** Days of history in a new database, and the longest gap that is filled. Default: 90. */
  readonly historyDays?: number;
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** Call this before the server starts: it stamps changes with times in the past, so a polling client would miss them. */
export async function openWorld(stores: Stores, org: Organisation, options: WorldOptions) {
  const { seed, speed, clock, logoUrl, historyDays = HISTORY_DAYS } = options;
  const imports = importsInto(stores, org, clock);
  let refreshedAtMs = clock();
  /** The retailers of the last import, most popular first. */
  let retailers = makeCatalogue({ seed, nowMs: refreshedAtMs, logoUrl });
  /** All changes up to this time have been imported. */
  let reachedMs = Math.max(await lastChangeMs(stores, org), refreshedAtMs - historyDays * DAY_MS);
  const sales = new LivingSales(seed, fasterSince(refreshedAtMs, speed), new Market(retailers));
  await imports.catalogue(retailers);
  await stores.transactions.read(org.id, async (batch) => {
    for (const stored of batch) sales.resume(stored, reachedMs);
  });
  await advance('as they happened');

  async function advance(stamps: 'now' | 'as they happened'): Promise<void> {
    const nowMs = clock();
    // If the system clock was set back, add nothing until it has passed the last import.
    if (nowMs <= reachedMs) return;
    const density = nowMs - reachedMs > PAUSE_MS ? SPARSE : lively(speed);
    const changes = sales.between(reachedMs, nowMs, density);
    if (changes.length > 0) await imports.transactions(changes, stamps);
    sales.settle(changes, nowMs);
    reachedMs = nowMs;
  }

  /** Replaces expired coupons and promotions once an hour, on the hour. */
  async function refreshCatalogue(): Promise<void> {
    const nowMs = clock();
    if (Math.floor(nowMs / HOUR_MS) === Math.floor(refreshedAtMs / HOUR_MS)) return;
    const current = makeCatalogue({ seed, nowMs, logoUrl });
    // Import only real changes: a user may be trying out catalogue imports of their own.
    if (!Bun.deepEquals(current, retailers)) {
      await imports.catalogue(current);
      retailers = current;
      sales.market = new Market(current);
    }
    refreshedAtMs = nowMs;
  }

  return {
    get retailers() {
      return retailers;
    },
    findRetailer: (id: string | undefined) => retailers.find((retailer) => retailer.id === id),
    /** The articles that a shop shows to the visitor who made a click. */
    articles: async (retailer: Retailer, clickId: string) =>
      makeArticles(seed, retailer, await imports.dealOf(clickId)),
    /** Buys an article. Returns undefined if the click is unknown. */
    async buy(article: Article, clickId: string): Promise<Purchase | undefined> {
      const atMs = clock();
      const purchase = makePurchase(seed, atMs, clickId, article);
      const transaction = await imports.purchase(purchase);
      if (transaction === undefined) return undefined;
      // From now on, the purchase changes state like any other sale.
      sales.settle([{ transaction, atMs }], atMs);
      return purchase;
    },
    /** Returns the current version of a purchase. */
    findOrder: imports.sale,
    async beat(): Promise<void> {
      await refreshCatalogue();
      await advance('now');
    },
  };
}

/** Time of the last change; 0 if there are no transactions, even though the change clock already has a value. */
async function lastChangeMs(stores: Stores, org: Organisation): Promise<number> {
  const page = await stores.transactions.page({ orgId: org.id, window: ALL_STAMPS, limit: 1 });
  return page.data.length === 0 ? 0 : page.completeThroughMs;
}
