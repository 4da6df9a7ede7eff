// Activation links.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { ImportWriter } from './import-log.ts';

/** Target of clicks on a retailer or deal; see activation/link-template.ts. */
export interface Link {
  /** Id of the retailer or deal. */
  readonly id: Uuid;
  readonly kind: 'retailer' | 'deal';
  readonly template: string;
}

export interface LinkStore {
  /** All links, in order of id. */
  list(): Promise<Link[]>;
  /** Transactional and one at a time, like CatalogueStore.write. */
  write<T>(work: (writer: LinkWriter) => Promise<T>, importId?: number): Promise<T>;
}

export interface LinkWriter extends ImportWriter {
  /** All links as they were when the write began. */
  list(): Promise<Link[]>;
  put(links: readonly Link[]): Promise<void>;
  remove(ids: readonly Uuid[]): Promise<void>;
  /** Makes running servers reload. Call it only if something changed. */
  markChanged(): Promise<void>;
}
