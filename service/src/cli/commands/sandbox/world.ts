// The sandbox's data over time: brings a database up to the present when the sandbox starts, and on from
// there beat by beat. It decides what is to be imported when; the imports themselves are handed to it.

import { type Density, LivingSales, lively, SPARSE } from '@offerbook/sandbox/living-sales.ts';
import { Market } from '@offerbook/sandbox/market.ts';
import { makePurchase, type Purchase } from '@offerbook/sandbox/purchase.ts';
import { fasterSince } from '@offerbook/sandbox/sale-course.ts';
import { makeCatalogue } from '@offerbook/sandbox/synthetic-catalogue.ts';
import type { Retailer, Sale } from '@offerbook/sandbox/wire.ts';
import type { Clock } from '../../../domain/clock.ts';
import type { Organisation } from '../../../domain/organisation.ts';
import type { Stores } from '../../../domain/stores.ts';
import type { Imports } from './imports.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HISTORY_DAYS = 90;
/** A pause longer than this, be it that the program was stopped or the computer asleep, is filled sparsely. */
const PAUSE_MS = 60_000;

interface WorldOptions {
  readonly seed: number;
  readonly speed: number;
  readonly clock: Clock;
  readonly logoUrl: (retailerId: string) => string;
  /** How far back a new database reaches, and at most the time that is made up for: 90 unless given. */
  readonly historyDays?: number;
}

export class World {
  readonly #options: WorldOptions;
  readonly #imports: Imports;
  readonly #sales: LivingSales;
  #retailers: readonly Retailer[];
  #refreshedAtMs: number;
  /** Everything up to here has been imported. */
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

  /** Call it before anybody can read: it puts changes where they belong in time. */
  static async open(
    stores: Stores,
    org: Organisation,
    imports: Imports,
    options: WorldOptions,
  ): Promise<World> {
    const nowMs = options.clock();
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

  /** As they were last imported, the most popular ones first. */
  get retailers(): readonly Retailer[] {
    return this.#retailers;
  }

  /** What somebody buys for a click. Returns undefined when the click is not one of ours. */
  async buy(retailer: Retailer, clickId: string): Promise<Purchase | undefined> {
    const { seed, clock } = this.#options;
    const dealId = await this.#imports.dealOf(clickId);
    const atMs = clock();
    const purchase = makePurchase(seed, atMs, { retailer, clickId, dealId });
    const transaction = await this.#imports.purchase(purchase);
    if (transaction === undefined) return undefined;
    // From here on it goes its way like any other sale.
    this.#sales.settle([{ transaction, atMs }], atMs);
    return purchase;
  }

  /** What somebody has bought, as it is now. */
  findOrder(id: string): Promise<Sale | undefined> {
    return this.#imports.sale(id);
  }

  async beat(): Promise<void> {
    await this.#refreshCatalogue();
    await this.#advance('now');
  }

  async #advance(stamps: 'now' | 'as they happened'): Promise<void> {
    const nowMs = this.#options.clock();
    // A clock that was set back has to come past the changes that are there before anything more can happen.
    if (nowMs <= this.#reachedMs) return;
    const changes = this.#sales.between(this.#reachedMs, nowMs, this.#densityUntil(nowMs));
    if (changes.length > 0) await this.#imports.transactions(changes, stamps);
    this.#sales.settle(changes, nowMs);
    this.#reachedMs = nowMs;
  }

  #densityUntil(nowMs: number): Density {
    return nowMs - this.#reachedMs > PAUSE_MS ? SPARSE : lively(this.#options.speed);
  }

  /** Coupons and promotions end; what follows them is imported with the next full hour. */
  async #refreshCatalogue(): Promise<void> {
    const nowMs = this.#options.clock();
    if (Math.floor(nowMs / HOUR_MS) === Math.floor(this.#refreshedAtMs / HOUR_MS)) return;
    const retailers = this.#makeRetailers(nowMs);
    // Unless there is something new, the catalogue is left alone: somebody may be trying out imports.
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

/** 0 when nothing has been sold yet: the change clock of an organisation starts when it is made. */
async function lastChangeMs(stores: Stores, org: Organisation): Promise<number> {
  const window = { minMs: 0, maxMs: Number.MAX_SAFE_INTEGER };
  const page = await stores.transactions.page({ orgId: org.id, cursor: undefined, window, limit: 1 });
  return page.data.length === 0 ? 0 : page.completeThroughMs;
}
