// Activation links.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { ImportWriter } from './import-log.ts';

/** Target of clicks on a retailer or deal; see wire/src/link-template.ts. */
export interface Link {
  /** Id of the retailer or deal. */
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
