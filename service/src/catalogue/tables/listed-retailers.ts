// Which retailers are listed: those with an active deal. Follows the changes of the active coupons and
// promotions, so that a renewal costs what has changed and not what there is.

import type { Pacer } from '../build/pacer.ts';
import { Bitset } from './bitset.ts';
import type { DealTable } from './deal-table.ts';

interface FollowedDeals {
  readonly table: DealTable;
  active: Bitset;
}

export class ListedRetailers {
  readonly #activeDealCounts: Uint32Array;
  readonly #coupons: FollowedDeals;
  readonly #promotions: FollowedDeals;
  #listed: Bitset;

  private constructor(retailerCount: number, coupons: FollowedDeals, promotions: FollowedDeals) {
    this.#activeDealCounts = new Uint32Array(retailerCount);
    this.#listed = new Bitset(retailerCount);
    this.#coupons = { ...coupons };
    this.#promotions = { ...promotions };
  }

  /** Starts with these active coupons and promotions, and with all offers: these are always active. */
  static async build(
    {
      retailerCount,
      offers,
      coupons,
      promotions,
    }: {
      readonly retailerCount: number;
      readonly offers: DealTable;
      readonly coupons: FollowedDeals;
      readonly promotions: FollowedDeals;
    },
    pacer: Pacer,
  ): Promise<ListedRetailers> {
    const listed = new ListedRetailers(retailerCount, coupons, promotions);
    await pacer.repeat(offers.count, (rank) => listed.#count(offers.owners[rank] as number, 1));
    for (const { table, active } of [coupons, promotions]) {
      await pacer.repeat(table.count, (rank) => {
        if (active.has(rank)) listed.#count(table.owners[rank] as number, 1);
      });
    }
    return listed;
  }

  /** The listed retailers while these coupons and promotions are active, as a set that never changes. */
  with(activeCoupons: Bitset, activePromotions: Bitset): Bitset {
    this.#listed = this.#listed.copy();
    this.#follow(this.#coupons, activeCoupons);
    this.#follow(this.#promotions, activePromotions);
    return this.#listed;
  }

  #follow(deals: FollowedDeals, active: Bitset): void {
    active.forEachDifference(deals.active, (rank) => {
      this.#count(deals.table.owners[rank] as number, active.has(rank) ? 1 : -1);
    });
    deals.active = active;
  }

  #count(retailer: number, change: 1 | -1): void {
    const count = (this.#activeDealCounts[retailer] as number) + change;
    this.#activeDealCounts[retailer] = count;
    if (count === 0) this.#listed.delete(retailer);
    else this.#listed.add(retailer);
  }
}
