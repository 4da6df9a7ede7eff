// Builds snapshot data from the stored catalogue. This takes seconds of CPU time for a large catalogue, so it runs in its own
// thread. It does not validate documents, because the import already did.

import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { DEAL_LISTS, forEachDealList } from '@offerbook/wire/deals.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import { fold } from '@offerbook/wire/fold.ts';
import { uuidWords } from '@offerbook/wire/uuid.ts';
import type { CatalogueStore } from '../../domain/catalogue.ts';
import { TERM_NAMES } from '../search/offer-terms.ts';
import type { SearchData, SnapshotData } from '../snapshot-data.ts';
import { DealListBuilder } from './deal-list-builder.ts';
import { DocumentPacker } from './document-packer.ts';
import { DomainIndexBuilder } from './domain-index-builder.ts';
import { type DealPlaces, layOut, locateDeals } from './locate-deals.ts';
import { GrowingUint32Array, packTexts, sharedUint32Array } from './shared-memory.ts';
import { TermColumnBuilder } from './term-column-builder.ts';

/** The new snapshot shares memory with `previous` where the catalogue has not changed. */
export async function buildSnapshotData(
  readCatalogue: CatalogueStore['read'],
  previous?: SnapshotData,
): Promise<SnapshotData> {
  const builder = new SnapshotBuilder(previous);
  const revision = await readCatalogue(async (batch) => {
    for (const { document, domains } of batch) builder.add(document, domains);
  });
  return builder.build(revision);
}

class SnapshotBuilder {
  readonly #ids = new GrowingUint32Array();
  readonly #documents: DocumentPacker;
  readonly #tails: DocumentPacker;
  readonly #deals = forEachDealList(() => new DealListBuilder());
  readonly #domains: DomainIndexBuilder;
  readonly #names: string[] = [];
  readonly #terms = TERM_NAMES.map((name) => [name, new TermColumnBuilder(name)] as const);

  constructor(previous: SnapshotData | undefined) {
    this.#documents = new DocumentPacker(previous?.retailers.documents);
    this.#tails = new DocumentPacker(previous?.retailers.tails);
    this.#domains = new DomainIndexBuilder(previous?.domains.items);
  }

  /** Retailers must be added in id order. `domains` are those of the retailer's link. */
  add(document: string, domains: readonly string[]): void {
    const retailer = JSON.parse(document) as Retailer;
    const { id, logo, url, name } = retailer;
    const words = uuidWords(id);
    this.#ids.pushAll(words);
    const places = this.#addDocument(document, retailer, words[3]);
    const tail = `,${printJson({ retailerId: id, logo, url, name }).slice(1)}`;
    this.#tails.add(this.#tails.encode(tail), words[3]);
    this.#names.push(fold(name));
    this.#domains.add(retailer, domains, words[3]);
    let begin = 0;
    for (const list of DEAL_LISTS) {
      const deals = retailer[list];
      this.#deals[list].add(deals, places.slice(begin, begin + 2 * deals.length));
      begin += 2 * deals.length;
    }
    for (const offer of retailer.cashbackOffers) for (const [, terms] of this.#terms) terms.add(offer);
  }

  #addDocument(document: string, retailer: Retailer, lastIdWord: number): DealPlaces {
    let bytes = this.#documents.encode(document);
    let places = locateDeals(bytes, retailer);
    if (places === undefined) {
      const laidOut = layOut(retailer);
      bytes = this.#documents.encode(laidOut.document);
      places = laidOut.places;
    }
    this.#documents.add(bytes, lastIdWord);
    return places;
  }

  build(revision: number): SnapshotData {
    const deals = forEachDealList((list) => this.#deals[list].build());
    return {
      revision,
      retailers: {
        ids: sharedUint32Array(this.#ids.values),
        documents: this.#documents.build(),
        tails: this.#tails.build(),
      },
      deals,
      search: this.#buildSearch(deals.cashbackOffers.slots),
      domains: this.#domains.build(),
    };
  }

  #buildSearch(offerSlots: Uint32Array): SearchData {
    return {
      names: packTexts(this.#names),
      terms: Object.fromEntries(
        this.#terms.map(([name, terms]) => [name, terms.build(offerSlots)]),
      ) as SearchData['terms'],
    };
  }
}
