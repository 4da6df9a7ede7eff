// Looks through the catalogue as it was for deals that the file gives to another retailer, while the retailer that has
// them keeps its deals. Needed when retailers stay beside those of the file.

import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { DEAL_LISTS } from '@offerbook/wire/deals.ts';
import { byPlace, printPlace, type RowProblem, rowProblem } from '@offerbook/wire/rows/row-problem.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { CatalogueStore } from '../../domain/catalogue.ts';
import type { RetailerCheck } from './retailer-check.ts';

/** One problem for each row of the file that lists a deal of a retailer which keeps its deals, in the order of the file. */
export async function findSharedDeals(
  store: CatalogueStore,
  file: RetailerCheck,
  keepsDeals: (id: Uuid) => boolean,
): Promise<RowProblem[]> {
  const problems = new Map<string, RowProblem>();
  await store.read(async (batch) => {
    for (const { id, document } of batch) {
      if (!keepsDeals(id)) continue;
      for (const problem of findClaims(JSON.parse(document) as Retailer, file)) {
        const place = printPlace(problem);
        if (!problems.has(place)) problems.set(place, problem);
      }
    }
  });
  return [...problems.values()].sort(byPlace);
}

/** The rows of other retailers that list a deal of this one. */
function findClaims(owner: Retailer, file: RetailerCheck): RowProblem[] {
  const own = file.retailers.get(owner.id);
  return DEAL_LISTS.flatMap((list) =>
    owner[list].flatMap(({ id }) => {
      const place = file.deals[list].get(id);
      if (place === undefined || (own !== undefined && byPlace(place, own) === 0)) return [];
      const reason = `lists ${id}, which the catalogue has under the retailer ${owner.id}`;
      return [rowProblem(place, { field: list, reason })];
    }),
  );
}
