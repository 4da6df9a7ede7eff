// Looks through the catalogue as it was for deals that the file gives to another retailer, while the retailer that has
// them stays as it was. Needed when retailers stay beside those of the file.

import type { Retailer } from '../../domain/catalogue.ts';
import { DEAL_LISTS, type DealList } from '../../domain/deals.ts';
import type { CatalogueStore } from '../../domain/stores.ts';
import type { Uuid } from '../../domain/uuid.ts';
import type { Place } from '../formats/raw-row.ts';
import type { RetailerCheck } from './retailer-check.ts';
import { byPlace, printPlace, type RowProblem, rowProblem } from './row-problem.ts';

/**
 * One problem for each row of the file that claims a deal of a retailer which keeps its deals. A row that is refused for
 * this leaves its own retailer as it was, so that rows which claim a deal of that one are refused as well.
 */
export async function findSharedDeals(
  store: CatalogueStore,
  file: RetailerCheck,
  keepsDeals: (id: Uuid) => boolean,
): Promise<RowProblem[]> {
  const claims = new Map<string, Claim[]>();
  const lost: Claim[] = [];
  await store.read(async (batch) => {
    for (const { id, document } of batch) {
      const found = findClaims(JSON.parse(document) as Retailer, file);
      if (found.length === 0) continue;
      if (keepsDeals(id)) lost.push(...found);
      else claims.set(keyOf(file.retailers.get(id)), found);
    }
  });
  const problems = new Map<string, RowProblem>();
  // Grows while it is gone through: what a refused row would have given away stays where it was.
  for (const { place, list, dealId, ownerId } of lost) {
    const key = keyOf(place);
    if (problems.has(key)) continue;
    const reason = `lists ${dealId}, which the catalogue has under the retailer ${ownerId}`;
    problems.set(key, rowProblem(place, { field: list, reason }));
    lost.push(...(claims.get(key) ?? []));
  }
  return [...problems.values()].sort(byPlace);
}

/** A row of the file lists a deal that the catalogue has under another retailer. */
interface Claim {
  readonly place: Place;
  readonly list: DealList;
  readonly dealId: Uuid;
  readonly ownerId: Uuid;
}

function findClaims(owner: Retailer, file: RetailerCheck): Claim[] {
  const claims: Claim[] = [];
  const own = keyOf(file.retailers.get(owner.id));
  for (const list of DEAL_LISTS) {
    for (const { id: dealId } of owner[list]) {
      const place = file.deals[list].get(dealId);
      if (place !== undefined && keyOf(place) !== own)
        claims.push({ place, list, dealId, ownerId: owner.id });
    }
  }
  return claims;
}

function keyOf(place: Place | undefined): string {
  return place === undefined ? '' : printPlace(place);
}
