// The domains of the retailers' sites. As a list, it has every retailer that has a domain on a single page.

import type { DomainData } from './snapshot-data.ts';
import { DocumentColumn } from './tables/document-column.ts';
import type { EncodedPage } from './tables/page-writer.ts';

/** The beginning of an item. */
const ITEM = '{"id":';

export class DomainList {
  readonly #items: DocumentColumn;

  constructor({ items }: DomainData) {
    this.#items = new DocumentColumn(items);
  }

  page(): EncodedPage {
    return { bytes: this.#items.copyAll(), cursor: undefined, changesAtMs: Number.POSITIVE_INFINITY };
  }

  /** Returns the domains of a retailer's site, including that of its hostname. */
  domainsOf(retailer: number): readonly string[] {
    const text = this.#items.text(retailer);
    if (text === '') return [];
    return (JSON.parse(text.slice(text.indexOf(ITEM))) as { domains: string[] }).domains;
  }
}
