// The programmes and sales of the fake networks, as pure functions of the seed and the time. A retailer of the sandbox belongs
// to one network or to none.

import { HOUR_MS } from '@offerbook/wire/time.ts';
import { arrivals, type Density } from '../living-sales.ts';
import { Market } from '../market.ts';
import { Random } from '../random.ts';
import { reportedAtMs } from '../sale-id.ts';
import { makeCatalogue } from '../synthetic-catalogue.ts';
import type { Retailer } from '../wire.ts';
import { NETWORKS, type NetworkName } from './accounts.ts';
import { makeNetworkSale, type NetworkSale, versionAt } from './network-sale.ts';

export interface LedgerOptions {
  readonly seed: number;
  /** The networks list only sales that were reported after this time. */
  readonly sinceMs: number;
  readonly density: Density;
  readonly logoUrl: (retailerId: string) => string;
  /** Programmes per network. Default: 12. Awin needs one request for each. */
  readonly programmes?: number;
  /** How often the lists of coupons and promotions are updated. Default: every hour. */
  readonly dealsEveryMs?: number;
  /** Fraction of sales whose changes the networks' change filters do not show. Default: 0. */
  readonly leakShare?: number;
}

/** A retailer with its number, which is its advertiser id at the network. */
export interface Programme {
  readonly advertiserId: number;
  readonly retailer: Retailer;
}

const FIRST_ADVERTISER = 10_001;

export class Ledger {
  readonly #options: LedgerOptions;
  readonly #market: Market;
  readonly #advertiserIds: ReadonlyMap<string, number>;
  readonly #sales: Readonly<Record<NetworkName, NetworkSale[]>> = {
    awin: [],
    impact: [],
    partnerize: [],
    cj: [],
    rakuten: [],
  };
  #reachedMs: number;
  #lastKey = 0;
  #programmes: { readonly updatedMs: number; readonly all: readonly Programme[] } | undefined;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#reachedMs = options.sinceMs;
    // Sales must not depend on the time. Offers do not, but coupons and promotions do.
    const retailers = this.#retailersAt(options.sinceMs).map((retailer) => ({
      ...retailer,
      coupons: [],
      promotions: [],
    }));
    this.#market = new Market(retailers);
    this.#advertiserIds = new Map(retailers.map(({ id }, number) => [id, FIRST_ADVERTISER + number]));
  }

  /** The sales that a network lists at this time, sorted by the time of their report. */
  sales(network: NetworkName, nowMs: number): readonly NetworkSale[] {
    const { seed, density } = this.#options;
    if (nowMs > this.#reachedMs) {
      const ids = [...arrivals(seed, this.#reachedMs, nowMs, density)].sort();
      for (const id of ids) this.#add(makeNetworkSale(seed, id, this.#nextKey(id), this.#market));
      this.#reachedMs = nowMs;
    }
    const known = this.#sales[network];
    const last = known.at(-1);
    // If the clock was set back, sales after the new time have not been reported yet.
    return last !== undefined && last.versions[0].atMs > nowMs
      ? known.filter(({ versions }) => versions[0].atMs <= nowMs)
      : known;
  }

  /** The programmes of a network, with the coupons and promotions that are listed at this time. */
  programmes(network: NetworkName, nowMs: number): readonly Programme[] {
    const { dealsEveryMs = HOUR_MS } = this.#options;
    const updatedMs = Math.floor(nowMs / dealsEveryMs) * dealsEveryMs;
    if (this.#programmes?.updatedMs !== updatedMs) {
      const all = this.#retailersAt(updatedMs).map((retailer) => ({
        retailer,
        advertiserId: this.advertiserId(retailer.id),
      }));
      this.#programmes = { updatedMs, all };
    }
    return this.#programmes.all.filter(({ retailer }) => this.#networkOf(retailer.id) === network);
  }

  advertiserId(retailerId: string): number {
    return this.#advertiserIds.get(retailerId) ?? 0;
  }

  /** When the network last changed the sale, as far as its change filter shows. */
  changedMs(sale: NetworkSale, nowMs: number): number {
    return this.leaks(sale) ? sale.versions[0].atMs : versionAt(sale, nowMs).atMs;
  }

  /** True if the change filters never list the changes to this sale. */
  leaks({ id }: NetworkSale): boolean {
    const { seed, leakShare = 0 } = this.#options;
    return leakShare > 0 && new Random(seed, 'leak', id).chance(leakShare);
  }

  #retailersAt(nowMs: number): Retailer[] {
    const { seed, logoUrl, programmes = 12 } = this.#options;
    return makeCatalogue({ seed, nowMs, logoUrl, count: programmes * NETWORKS.length });
  }

  #networkOf(retailerId: string): NetworkName {
    return NETWORKS[this.advertiserId(retailerId) % NETWORKS.length] ?? 'awin';
  }

  #add(sale: NetworkSale): void {
    this.#sales[this.#networkOf(sale.retailerId)].push(sale);
  }

  /** Derived from the time of the report, so that the keys stay the same after a restart. */
  #nextKey(id: string): number {
    this.#lastKey = Math.max(reportedAtMs(id) * 10, this.#lastKey + 1);
    return this.#lastKey;
  }
}

/** A coupon or a promotion, as networks list them. */
export interface ListedDeal {
  readonly deal: Retailer['coupons'][number] | Retailer['promotions'][number];
  /** Undefined for a promotion. */
  readonly code: string | undefined;
  readonly url: string;
}

export function dealsOf({ coupons, promotions, url }: Retailer): ListedDeal[] {
  return [
    ...coupons.map((deal) => ({ deal, code: deal.code, url })),
    ...promotions.map((deal) => ({ deal, code: undefined, url: deal.deepLink })),
  ];
}

/** A number for a deal's UUID, since most networks number their deals. */
export function numberOf(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 12), 16);
}

/** Offers have percentages in steps of 0.5. */
export function percent(fraction: number): number {
  return Math.round(fraction * 1000) / 10;
}
