// Finds stored deals that the file assigns to another retailer while their own retailer keeps them. Only needed if an import
// leaves some stored retailers unchanged.

import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { DEAL_LISTS } from '@offerbook/wire/deals.ts';
import { byPlace, printPlace, type RowProblem, rowProblem } from '@offerbook/wire/rows/row-problem.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { CatalogueStore } from '../../domain/catalogue.ts';
import type { RetailerCheck } from './retailer-check.ts';

/** Returns one problem per row that lists such a deal, in file order. */
export async function findSharedDeals(
  store: CatalogueStore,
  file: RetailerCheck,
  keepsDeals: (id: Uuid) => boolean,
): Promise<RowProblem[]> {
  const problems = new Map<string, RowProblem>();
  await store.read(async (batch) => {
    for (const { id, document } of batch) {
      if (!keepsDeals(id)) continue;
      for (const problem of findClaims(JSON.parse(document) as Retailer, file))
        problems.getOrInsert(printPlace(problem), problem);
    }
  });
  return [...problems.values()].sort(byPlace);
}

/** Returns a problem for each row that assigns one of this retailer's deals to another retailer. */
function findClaims(owner: Retailer, file: RetailerCheck): RowProblem[] {
  const own = file.retailers.get(owner.id);
  return DEAL_LISTS.flatMap((list) =>
    owner[list].flatMap(({ id }) => {
      const place = file.deals[list].get(id);
      if (place === undefined || (own !== undefined && byPlace(place, own) === 0)) return [];
      const reason = `lists ${id}, which belongs to the retailer ${owner.id} in the catalogue`;
      return [rowProblem(place, { field: list, reason })];
    }),
  );
}
