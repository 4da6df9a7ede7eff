// Builds snapshot data from the stored catalogue. This takes seconds of CPU time for a large catalogue, so it runs in its own
// thread. It does not validate documents, because the import already did.

import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { DEAL_LISTS, forEachDealList } from '@offerbook/wire/deals.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import { fold } from '@offerbook/wire/fold.ts';
import { uuidWords } from '@offerbook/wire/uuid.ts';
import type { CatalogueStore } from '../../domain/catalogue.ts';
import { TERM_NAMES } from '../search/offer-terms.ts';
import type { SnapshotData } from '../snapshot-data.ts';
import { dealListBuilder } from './deal-list-builder.ts';
import { DocumentPacker } from './document-packer.ts';
import { domainIndexBuilder } from './domain-index-builder.ts';
import { type DealPlaces, layOut, locateDeals } from './locate-deals.ts';
import { GrowingUint32Array, packTexts, sharedUint32Array } from './shared-memory.ts';
import { termColumnBuilder } from './term-column-builder.ts';

/** The new snapshot shares memory with `previous` where the catalogue has not changed. */
export async function buildSnapshotData(
  readCatalogue: CatalogueStore['read'],
  previous?: SnapshotData,
): Promise<SnapshotData> {
  const ids = new GrowingUint32Array();
  const documents = new DocumentPacker(previous?.retailers.documents);
  const tails = new DocumentPacker(previous?.retailers.tails);
  const dealLists = forEachDealList(dealListBuilder);
  const domainIndex = domainIndexBuilder(previous?.domains.items);
  const names: string[] = [];
  const terms = TERM_NAMES.map((name) => [name, termColumnBuilder(name)] as const);

  /** Retailers are read in id order. `domains` are those of the retailer's link. */
  function add(document: string, domains: readonly string[]): void {
    const retailer = JSON.parse(document) as Retailer;
    const { id, logo, url, name } = retailer;
    const words = uuidWords(id);
    ids.pushAll(words);
    const places = addDocument(document, retailer, words[3]);
    const tail = `,${printJson({ retailerId: id, logo, url, name }).slice(1)}`;
    tails.add(tails.encode(tail), words[3]);
    names.push(fold(name));
    domainIndex.add(retailer, domains, words[3]);
    let begin = 0;
    for (const list of DEAL_LISTS) {
      const deals = retailer[list];
      dealLists[list].add(deals, places.slice(begin, begin + 2 * deals.length));
      begin += 2 * deals.length;
    }
    for (const offer of retailer.cashbackOffers) for (const [, column] of terms) column.add(offer);
  }

  function addDocument(document: string, retailer: Retailer, lastIdWord: number): DealPlaces {
    let bytes = documents.encode(document);
    let places = locateDeals(bytes, retailer);
    if (places === undefined) {
      const laidOut = layOut(retailer);
      bytes = documents.encode(laidOut.document);
      places = laidOut.places;
    }
    documents.add(bytes, lastIdWord);
    return places;
  }

  const revision = await readCatalogue(async (batch) => {
    for (const { document, domains } of batch) add(document, domains);
  });
  const deals = forEachDealList((list) => dealLists[list].build());
  const termColumns = terms.map(([name, column]) => [name, column.build(deals.cashbackOffers.slots)]);
  return {
    revision,
    retailers: {
      ids: sharedUint32Array(ids.values),
      documents: documents.build(),
      tails: tails.build(),
    },
    deals,
    search: { names: packTexts(names), terms: Object.fromEntries(termColumns) },
    domains: domainIndex.build(),
  };
}
