// The domains of the retailers' sites. As a list, it has every retailer that has a domain on a single page.

import type { DomainData } from './snapshot-data.ts';
import { JsonColumn } from './tables/json-column.ts';
import { type EncodedPage, writePage } from './tables/page-writer.ts';
import type { UuidTable } from './tables/uuid-table.ts';

export class DomainList {
  readonly #items: JsonColumn;
  readonly #retailerIds: UuidTable;

  constructor({ items }: DomainData, retailerIds: UuidTable) {
    this.#items = new JsonColumn(items);
    this.#retailerIds = retailerIds;
  }

  page(): EncodedPage {
    const numbers: number[] = [];
    for (let retailer = 0; retailer < this.#retailerIds.length; retailer++)
      if (!this.#items.isEmpty(retailer)) numbers.push(retailer);
    return writePage(
      {
        numbers,
        limit: numbers.length,
        ids: this.#retailerIds,
        writeItem: (retailer, writer) => this.#items.write(retailer, writer),
        changesAtMs: () => Number.POSITIVE_INFINITY,
      },
      Number.POSITIVE_INFINITY,
    );
  }

  /** Returns the domains of a retailer's site, including that of its hostname. */
  domainsOf(retailer: number): readonly string[] {
    if (this.#items.isEmpty(retailer)) return [];
    return (JSON.parse(this.#items.text(retailer)) as { domains: string[] }).domains;
  }
}
