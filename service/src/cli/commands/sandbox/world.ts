// The sandbox's data over time. When the sandbox starts, World fills the database up to the present; after that, each call of
// beat() adds the changes since the previous call. World decides what to import and when; `Imports` writes it.

import { type Density, LivingSales, lively, SPARSE } from '@offerbook/sandbox/living-sales.ts';
import { Market } from '@offerbook/sandbox/market.ts';
import { type Article, makeArticles, makePurchase, type Purchase } from '@offerbook/sandbox/purchase.ts';
import { fasterSince } from '@offerbook/sandbox/sale-course.ts';
import { makeCatalogue } from '@offerbook/sandbox/synthetic-catalogue.ts';
import type { Retailer, Sale } from '@offerbook/sandbox/wire.ts';
import { DAY_MS, HOUR_MS } from '@offerbook/wire/time.ts';
import type { Clock } from '../../../domain/clock.ts';
import type { Organisation } from '../../../domain/organisation.ts';
import type { Stores } from '../../../domain/stores.ts';
import { type Imports, importsInto } from './imports.ts';

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

export class World {
  readonly #options: WorldOptions;
  readonly #imports: Imports;
  readonly #sales: LivingSales;
  #retailers: readonly Retailer[];
  #refreshedAtMs: number;
  /** All changes up to this time have been imported. */
  #reachedMs: number;

  private constructor(options: WorldOptions, imports: Imports, reachedMs: number) {
    this.#options = options;
    this.#imports = imports;
    this.#reachedMs = reachedMs;
    this.#refreshedAtMs = options.clock();
    this.#retailers = this.#makeRetailers(this.#refreshedAtMs);
    const pace = fasterSince(this.#refreshedAtMs, options.speed);
    this.#sales = new LivingSales(options.seed, pace, new Market(this.#retailers));
  }

  /** Call this before the server starts: it stamps changes with times in the past, so a polling client would miss them. */
  static async open(stores: Stores, org: Organisation, options: WorldOptions): Promise<World> {
    const nowMs = options.clock();
    const imports = importsInto(stores, org, options.clock);
    const earliestMs = nowMs - (options.historyDays ?? HISTORY_DAYS) * DAY_MS;
    const reachedMs = Math.max(await lastChangeMs(stores, org), earliestMs);
    const world = new World(options, imports, reachedMs);
    await imports.catalogue(world.retailers);
    await stores.transactions.read(org.id, async (batch) => {
      for (const stored of batch) world.#sales.resume(stored, reachedMs);
    });
    await world.#advance('as they happened');
    return world;
  }

  /** The retailers of the last import, most popular first. */
  get retailers(): readonly Retailer[] {
    return this.#retailers;
  }

  /** The articles that a shop shows to the visitor who made a click. */
  async articles(retailer: Retailer, clickId: string): Promise<Article[]> {
    return makeArticles(this.#options.seed, retailer, await this.#imports.dealOf(clickId));
  }

  /** Buys an article. Returns undefined if the click is unknown. */
  async buy(article: Article, clickId: string): Promise<Purchase | undefined> {
    const { seed, clock } = this.#options;
    const atMs = clock();
    const purchase = makePurchase(seed, atMs, clickId, article);
    const transaction = await this.#imports.purchase(purchase);
    if (transaction === undefined) return undefined;
    // From now on, the purchase changes state like any other sale.
    this.#sales.settle([{ transaction, atMs }], atMs);
    return purchase;
  }

  /** Returns the current version of a purchase. */
  findOrder(id: string): Promise<Sale | undefined> {
    return this.#imports.sale(id);
  }

  async beat(): Promise<void> {
    await this.#refreshCatalogue();
    await this.#advance('now');
  }

  async #advance(stamps: 'now' | 'as they happened'): Promise<void> {
    const nowMs = this.#options.clock();
    // If the system clock was set back, add nothing until it has passed the last import.
    if (nowMs <= this.#reachedMs) return;
    const changes = this.#sales.between(this.#reachedMs, nowMs, this.#densityUntil(nowMs));
    if (changes.length > 0) await this.#imports.transactions(changes, stamps);
    this.#sales.settle(changes, nowMs);
    this.#reachedMs = nowMs;
  }

  #densityUntil(nowMs: number): Density {
    return nowMs - this.#reachedMs > PAUSE_MS ? SPARSE : lively(this.#options.speed);
  }

  /** Replaces expired coupons and promotions once an hour, on the hour. */
  async #refreshCatalogue(): Promise<void> {
    const nowMs = this.#options.clock();
    if (Math.floor(nowMs / HOUR_MS) === Math.floor(this.#refreshedAtMs / HOUR_MS)) return;
    const retailers = this.#makeRetailers(nowMs);
    // Import only real changes: a user may be trying out catalogue imports of their own.
    if (!Bun.deepEquals(retailers, this.#retailers)) {
      await this.#imports.catalogue(retailers);
      this.#retailers = retailers;
      this.#sales.market = new Market(retailers);
    }
    this.#refreshedAtMs = nowMs;
  }

  #makeRetailers(nowMs: number): Retailer[] {
    return makeCatalogue({ seed: this.#options.seed, nowMs, logoUrl: this.#options.logoUrl });
  }
}

/** Time of the last change; 0 if there are no transactions, even though the change clock already has a value. */
async function lastChangeMs(stores: Stores, org: Organisation): Promise<number> {
  const window = { minMs: 0, maxMs: Number.MAX_SAFE_INTEGER };
  const page = await stores.transactions.page({ orgId: org.id, cursor: undefined, window, limit: 1 });
  return page.data.length === 0 ? 0 : page.completeThroughMs;
}
