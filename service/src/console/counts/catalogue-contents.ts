// The catalogue data that the console needs: each deal's retailer, when deals end, and retailers without a domain. Read once
// per revision.

import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { DEAL_LISTS, type DealList } from '@offerbook/wire/deals.ts';
import { parseSiteDomain } from '@offerbook/wire/site-domain.ts';
import { timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../../domain/stores.ts';

type CatalogueContents = Awaited<ReturnType<typeof readContents>>;

type CatalogueSource = Pick<Stores, 'catalogue' | 'revisions'>;

export class CatalogueReader {
  #last: CatalogueContents | undefined;

  async read(source: CatalogueSource): Promise<CatalogueContents> {
    const { catalogue: revision } = await source.revisions();
    if (this.#last?.revision !== revision) this.#last = await readContents(source);
    return this.#last;
  }
}

async function readContents({ catalogue }: CatalogueSource) {
  /** Names of all stored retailers. */
  const retailers = new Map<Uuid, string>();
  const retailerOfDeal = new Map<Uuid, Uuid>();
  /** Deals with an end date, earliest end first. */
  const ending: { list: DealList; retailerId: Uuid; description: string; endsAtMs: number }[] = [];
  /** Retailers that look-ups by site cannot find, in id order. */
  const withoutDomain: { name: string; hostname: string }[] = [];
  const revision = await catalogue.read(async (batch) => {
    for (const { document, domains } of batch) {
      const retailer = JSON.parse(document) as Retailer;
      const { name, hostname } = retailer;
      retailers.set(retailer.id, name);
      if (domains.length === 0 && parseSiteDomain(hostname) === undefined)
        withoutDomain.push({ name, hostname });
      for (const list of DEAL_LISTS) {
        for (const deal of retailer[list]) {
          retailerOfDeal.set(deal.id, retailer.id);
          if (!('endDate' in deal)) continue;
          const { description, endDate } = deal;
          ending.push({ list, retailerId: retailer.id, description, endsAtMs: timestampMs(endDate) });
        }
      }
    }
  });
  ending.sort((a, b) => a.endsAtMs - b.endsAtMs);
  return { revision, retailers, retailerOfDeal, ending, withoutDomain };
}
