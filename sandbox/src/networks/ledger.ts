// The programmes and sales of the fake networks, as pure functions of the seed and the time. A retailer of the sandbox belongs
// to one network or to none.

import { HOUR_MS } from '@offerbook/wire/time.ts';
import { arrivals, type Density } from '../living-sales.ts';
import { Market } from '../market.ts';
import { reportedAtMs } from '../sale-id.ts';
import { makeCatalogue } from '../synthetic-catalogue.ts';
import type { Retailer } from '../wire.ts';
import { NETWORKS, type NetworkName } from './accounts.ts';
import { makeNetworkSale, type NetworkSale, numberOf, type SaleOrigin } from './network-sale.ts';

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

export type Programme = ReturnType<typeof programmeOf>;

const FIRST_ADVERTISER = 10_001;

export class Ledger {
  readonly #options: LedgerOptions;
  readonly #origin: SaleOrigin;
  readonly #sales = new Map<NetworkName, NetworkSale[]>(NETWORKS.map((name) => [name, []]));
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
    this.#origin = {
      seed: options.seed,
      market: new Market(retailers),
      advertiserIds: new Map(retailers.map(({ id }, number) => [id, FIRST_ADVERTISER + number])),
      leakShare: options.leakShare ?? 0,
    };
  }

  /** The sales that a network lists at this time, sorted by the time of their report. */
  sales(network: NetworkName, nowMs: number): readonly NetworkSale[] {
    const { seed, density } = this.#options;
    if (nowMs > this.#reachedMs) {
      const ids = [...arrivals(seed, this.#reachedMs, nowMs, density)].sort();
      for (const id of ids) {
        const sale = makeNetworkSale(this.#origin, id, this.#nextKey(id));
        this.#sales.get(networkOf(sale))?.push(sale);
      }
      this.#reachedMs = nowMs;
    }
    const known = this.#sales.get(network) ?? [];
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
      const all = this.#retailersAt(updatedMs).map((retailer) =>
        programmeOf(retailer, this.#origin.advertiserIds.get(retailer.id) ?? 0),
      );
      this.#programmes = { updatedMs, all };
    }
    return this.#programmes.all.filter((programme) => networkOf(programme) === network);
  }

  #retailersAt(nowMs: number): Retailer[] {
    const { seed, logoUrl, programmes = 12 } = this.#options;
    return makeCatalogue({ seed, nowMs, logoUrl, count: programmes * NETWORKS.length });
  }

  /** Derived from the time of the report, so that the keys stay the same after a restart. */
  #nextKey(id: string): number {
    this.#lastKey = Math.max(reportedAtMs(id) * 10, this.#lastKey + 1);
    return this.#lastKey;
  }
}

function networkOf({ advertiserId }: { readonly advertiserId: number }): NetworkName {
  return NETWORKS[advertiserId % NETWORKS.length] ?? 'awin';
}

/** A retailer of a network, with its offers and deals as networks list them. */
function programmeOf(retailer: Retailer, advertiserId: number) {
  const { cashbackOffers, coupons, promotions, url } = retailer;
  return {
    advertiserId,
    retailer,
    offers: cashbackOffers.map(({ id, description, cashbackPercentage, maximumFixedCommissionFee }) => ({
      number: numberOf(id),
      description,
      // In euros; null if the offer has a percentage.
      fixed: maximumFixedCommissionFee,
      // Offers have percentages in steps of 0.5.
      percent: Math.round(cashbackPercentage * 1000) / 10,
    })),
    coupons: coupons.map((coupon) => ({ ...coupon, number: numberOf(coupon.id), url })),
    promotions: promotions.map((promotion) => ({
      ...promotion,
      number: numberOf(promotion.id),
      code: undefined,
      url: promotion.deepLink,
    })),
  };
}

/** The coupons and promotions of a programme, for networks that list both together. */
export function dealsOf({ coupons, promotions }: Programme) {
  return [...coupons, ...promotions];
}
