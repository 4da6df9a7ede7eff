// The in-memory catalogue that serves the four catalogue operations. It replaces whole snapshots, so no request ever sees
// part of a change. It does not build snapshots.

import type { TransactionRetailer } from '@offerbook/wire/catalogue.ts';
import { forEachDealList } from '@offerbook/wire/deals.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { unavailable } from '../domain/api-errors.ts';
import type { Clock } from '../domain/clock.ts';
import type { DomainList } from './domain-list.ts';
import type { CatalogueListName, ListView } from './list-view.ts';
import { type CatalogueEntry, openSnapshot, type Snapshot } from './snapshot.ts';
import type { SnapshotData } from './snapshot-data.ts';

/**
 * The garbage collector does not account for shared memory, where snapshots are stored. It is therefore run explicitly when the
 * documents of the replaced snapshots reach this size. Running it takes too long to do so for every small snapshot.
 */
const REPLACED_MAX_BYTES = 4 * 1024 * 1024;

export class Catalogue {
  readonly #clock: Clock;
  #snapshot: Snapshot | undefined;
  #snapshotBytes = 0;
  /** Total size of the snapshots replaced since the last garbage collection. */
  #replacedBytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get ready(): boolean {
    return this.#snapshot !== undefined;
  }

  /** Undefined before the first snapshot. */
  get revision(): number | undefined {
    return this.#snapshot?.revision;
  }

  get nowMs(): number {
    return this.#clock();
  }

  replace(data: SnapshotData): void {
    this.#snapshot = openSnapshot(data, this.#clock);
    this.#replacedBytes += this.#snapshotBytes;
    this.#snapshotBytes = data.retailers.documents.chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
    if (this.#replacedBytes < REPLACED_MAX_BYTES) return;
    this.#replacedBytes = 0;
    Bun.gc(true);
  }

  /** Returns the current view of a list. The same object is returned until the list's contents may have changed. */
  list(name: CatalogueListName): ListView {
    return this.#current().list(name);
  }

  /** Every retailer with its domains. The same object is returned until the catalogue changes. */
  get domains(): DomainList {
    return this.#current().domains;
  }

  /** Number of active items in each list; undefined before the first snapshot. */
  counts(): Readonly<Record<CatalogueListName, number>> | undefined {
    const snapshot = this.#snapshot;
    if (snapshot === undefined) return undefined;
    const countOf = (name: CatalogueListName) => snapshot.list(name).count();
    return { retailers: countOf('retailers'), ...forEachDealList(countOf) };
  }

  /** Finds a retailer or deal, active or not. */
  find(name: CatalogueListName, id: Uuid): CatalogueEntry | undefined {
    return this.#current().find(name, id);
  }

  /** Finds the fields of a retailer that transactions show, whether or not it has active deals. */
  findRetailer(id: Uuid): TransactionRetailer | undefined {
    return this.#current().findRetailer(id);
  }

  #current(): Snapshot {
    if (this.#snapshot === undefined)
      throw unavailable('The catalogue is still loading. Try again shortly.', 1);
    return this.#snapshot;
  }
}
