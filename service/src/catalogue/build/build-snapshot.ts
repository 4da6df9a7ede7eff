// Builds snapshot data from the stored catalogue. This takes seconds of CPU time for a large catalogue, so it runs in its own
// thread. It does not validate documents, because the import already did.

import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { DEAL_LISTS, forEachDealList } from '@offerbook/wire/deals.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import { fold } from '@offerbook/wire/fold.ts';
import { uuidWords } from '@offerbook/wire/uuid.ts';
import type { CatalogueStore } from '../../domain/catalogue.ts';
import { gramsOf } from '../search/name-index.ts';
import { TERM_NAMES } from '../search/offer-terms.ts';
import type { SearchData, SnapshotData } from '../snapshot-data.ts';
import { DealListBuilder } from './deal-list-builder.ts';
import { JsonPacker, packStrings, sharedUint32Array } from './shared-memory.ts';
import { OfferTermsBuilder, TermIndexBuilder } from './term-index-builder.ts';

export async function buildSnapshotData(readCatalogue: CatalogueStore['read']): Promise<SnapshotData> {
  const builder = new SnapshotBuilder();
  const revision = await readCatalogue(async (batch) => {
    for (const { document } of batch) builder.add(JSON.parse(document));
  });
  return builder.build(revision);
}

class SnapshotBuilder {
  readonly #ids: number[] = [];
  readonly #heads = new JsonPacker();
  readonly #tails = new JsonPacker();
  readonly #deals = forEachDealList(() => new DealListBuilder());
  readonly #names: string[] = [];
  readonly #terms = TERM_NAMES.map((name) => [name, new OfferTermsBuilder(name)] as const);

  /** Retailers must be added in id order. */
  add({ cashbackOffers, coupons, promotions, ...retailer }: Retailer): void {
    const { id, logo, url, name } = retailer;
    const deals = { cashbackOffers, coupons, promotions };
    this.#ids.push(...uuidWords(id));
    this.#heads.add(printJson(retailer).slice(0, -1));
    this.#tails.add(`,${printJson({ retailerId: id, logo, url, name }).slice(1)}`);
    this.#names.push(fold(name));
    for (const list of DEAL_LISTS) this.#deals[list].add(deals[list]);
    for (const offer of cashbackOffers) for (const [, terms] of this.#terms) terms.add(offer);
  }

  build(revision: number): SnapshotData {
    const deals = forEachDealList((list) => this.#deals[list].build());
    return {
      revision,
      retailers: {
        ids: sharedUint32Array(this.#ids),
        heads: this.#heads.build(),
        tails: this.#tails.build(),
      },
      deals,
      search: this.#buildSearch(deals.cashbackOffers.slots),
    };
  }

  #buildSearch(offerSlots: Uint32Array): SearchData {
    const grams = new TermIndexBuilder();
    for (const [retailer, name] of this.#names.entries()) {
      for (const gram of gramsOf(name)) grams.add(gram, retailer);
    }
    return {
      names: packStrings(this.#names),
      grams: grams.build(),
      terms: Object.fromEntries(
        this.#terms.map(([name, terms]) => [name, terms.build(offerSlots)]),
      ) as SearchData['terms'],
    };
  }
}
