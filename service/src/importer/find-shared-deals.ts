// Looks through the catalogue as it would now be for deals that two retailers claim. Needed when retailers
// stay as they were beside those of the file.

import type { Retailer } from '../domain/catalogue.ts';
import { DEAL_LISTS, type DealList } from '../domain/deals.ts';
import type { CatalogueWriter } from '../domain/stores.ts';
import type { Uuid } from '../domain/uuid.ts';
import type { Place } from './raw-row.ts';
import type { RetailerCheck } from './retailer-check.ts';
import { type RowProblem, rowProblem } from './row-problem.ts';
import { UuidPlaces } from './uuid-places.ts';

/** One problem for each row of the file that claims a deal of a retailer elsewhere. */
export async function findSharedDeals(writer: CatalogueWriter, file: RetailerCheck): Promise<RowProblem[]> {
  const owners = new DealOwners();
  const problems = new Map<string, RowProblem>();
  await writer.read(async (batch) => {
    for (const { document } of batch) {
      const retailer = JSON.parse(document) as Retailer;
      for (const { list, dealId, retailerIds } of owners.claim(retailer)) {
        const place = file.deals[list].get(dealId);
        // What the file does not list was so before, and is no fault of the file.
        if (place === undefined) continue;
        const other = retailerIds.find((id) => !isSamePlace(file.retailers.get(id), place));
        const reason = `lists ${dealId}, which the catalogue has under the retailer ${other}`;
        const key = `${place.line} ${place.item}`;
        if (!problems.has(key)) problems.set(key, rowProblem(place, { field: list, reason }));
      }
    }
  });
  return [...problems.values()].sort((a, b) => a.line - b.line || (a.item ?? 0) - (b.item ?? 0));
}

function isSamePlace(a: Place | undefined, b: Place): boolean {
  return a?.line === b.line && a.item === b.item;
}

interface SharedDeal {
  readonly list: DealList;
  readonly dealId: Uuid;
  readonly retailerIds: readonly [Uuid, Uuid];
}

/** Who has which deal. The retailers' numbers stand in for lines. */
class DealOwners {
  readonly #retailers: Uuid[] = [];
  readonly #deals: Record<DealList, UuidPlaces> = {
    cashbackOffers: new UuidPlaces(),
    coupons: new UuidPlaces(),
    promotions: new UuidPlaces(),
  };

  claim(retailer: Retailer): SharedDeal[] {
    const shared: SharedDeal[] = [];
    const number = this.#retailers.push(retailer.id) - 1;
    for (const list of DEAL_LISTS) {
      for (const { id } of retailer[list]) {
        const owner = this.#deals[list].get(id);
        if (owner === undefined) this.#deals[list].add(id, { line: number });
        else
          shared.push({
            list,
            dealId: id,
            retailerIds: [this.#retailers[owner.line] ?? retailer.id, retailer.id],
          });
      }
    }
    return shared;
  }
}
