// The domains of the retailers' sites. As a list, it has every retailer that has a domain on a single page.

import type { DomainData } from './snapshot-data.ts';
import { DocumentColumn } from './tables/document-column.ts';
import type { EncodedPage } from './tables/page-writer.ts';

/** The beginning of an item. */
const ITEM = '{"id":';

export type DomainList = ReturnType<typeof domainList>;

export function domainList({ items }: DomainData) {
  const column = new DocumentColumn(items);
  return {
    page: (): EncodedPage => {
      return { bytes: column.copyAll(), cursor: undefined, changesAtMs: Number.POSITIVE_INFINITY };
    },
    /** Returns the domains of a retailer's site, including that of its hostname. */
    domainsOf(retailer: number): readonly string[] {
      const text = column.text(retailer);
      if (text === '') return [];
      return (JSON.parse(text.slice(text.indexOf(ITEM))) as { domains: string[] }).domains;
    },
  };
}
