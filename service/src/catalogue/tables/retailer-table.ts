// The retailers: their ids and stored documents, from which pages are copied.

import type { RetailerData } from '../snapshot-data.ts';
import { DocumentColumn } from './document-column.ts';
import { UuidTable } from './uuid-table.ts';

export class RetailerTable {
  readonly ids: UuidTable;
  readonly documents: DocumentColumn;
  /** The JSON that follows a deal's own fields in its list form. */
  readonly tails: DocumentColumn;

  constructor({ ids, documents, tails }: RetailerData) {
    this.ids = new UuidTable(ids);
    this.documents = new DocumentColumn(documents);
    this.tails = new DocumentColumn(tails);
  }
}
