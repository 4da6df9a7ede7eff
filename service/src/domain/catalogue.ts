// The stored catalogue (one document per retailer) and the activation links.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { ImportWriter } from './import-log.ts';
import type { PullWriter } from './pull.ts';
import type { StoredDocument } from './stored-document.ts';

export interface StoredRetailer extends StoredDocument {
  /** Domains of the retailer's site from its link, in addition to its hostname. */
  readonly domains: readonly string[];
}

export interface CatalogueStore {
  /**
   * Reads all retailers in id order, in batches, from one consistent snapshot, and returns the snapshot's revision. A slow
   * callback does not block other work.
   */
  read(onBatch: (batch: StoredRetailer[]) => Promise<void>): Promise<number>;
  /**
   * Runs `work` in a transaction, which is committed when `work` returns and rolled back when it throws. Writes run one at a
   * time. Imports pass the id of their log entry.
   */
  write<T>(work: (writer: CatalogueWriter) => Promise<T>, importId?: number): Promise<T>;
}

export interface CatalogueWriter extends ImportWriter {
  find(ids: readonly Uuid[]): Promise<Map<Uuid, string>>;
  /** `source` is the source of a pull; null, the default, if the retailers come from a file. */
  put(documents: readonly StoredDocument[], source?: string | null): Promise<void>;
  remove(ids: readonly Uuid[]): Promise<void>;
  /** Returns the ids of all retailers, sorted, with the sources with which they were last put by this or an earlier writer. */
  sources(): Promise<Map<Uuid, string | null>>;
  /** Reads all documents in id order, including changes by this writer. */
  read(onBatch: (batch: StoredDocument[]) => Promise<void>): Promise<void>;
  /** Makes running servers reload. Call it only if something has changed. */
  markChanged(): Promise<void>;
  readonly pulls: PullWriter;
}

/** Target of clicks on a retailer or deal; see wire/src/link-template.ts. */
export interface Link {
  readonly id: Uuid;
  readonly kind: 'retailer' | 'deal';
  readonly template: string;
  /** Additional domains of a retailer's site, sorted. Deals have no domains. */
  readonly domains?: readonly string[];
}

export interface LinkStore {
  /** Returns all links in id order. */
  list(): Promise<Link[]>;
  /** Runs `work` in a transaction, like CatalogueStore.write. */
  write<T>(work: (writer: LinkWriter) => Promise<T>, importId?: number): Promise<T>;
}

export interface LinkWriter extends ImportWriter {
  /** Returns all links as they were when the write began. */
  list(): Promise<Link[]>;
  put(links: readonly Link[]): Promise<void>;
  remove(ids: readonly Uuid[]): Promise<void>;
  /** Makes running servers reload. Call it only if something has changed. */
  markChanged(): Promise<void>;
}
