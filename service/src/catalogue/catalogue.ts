// The catalogue in memory, from which the four catalogue operations are served. It swaps whole snapshots: nobody ever
// sees half of a change. Snapshots are built elsewhere.

import { unavailable } from '../domain/api-errors.ts';
import type { Clock } from '../domain/clock.ts';
import type { Uuid } from '../domain/uuid.ts';
import type { CatalogueListName, ListView } from './list-view.ts';
import { type CatalogueEntry, Snapshot } from './snapshot.ts';
import type { SnapshotData } from './snapshot-data.ts';

export type { CatalogueListName, CatalogueQuery, ListView } from './list-view.ts';
export type { CatalogueEntry } from './snapshot.ts';
export type { SnapshotData } from './snapshot-data.ts';
export type { EncodedPage } from './tables/page-writer.ts';

export class Catalogue {
  readonly #clock: Clock;
  #snapshot: Snapshot | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get ready(): boolean {
    return this.#snapshot !== undefined;
  }

  /** Of the snapshot that is being served. */
  get revision(): number | undefined {
    return this.#snapshot?.revision;
  }

  get nowMs(): number {
    return this.#clock();
  }

  /** Serves this from now on. */
  take(data: SnapshotData): void {
    this.#snapshot = new Snapshot(data);
  }

  /** The list as it is now. It is the same object for as long as its content cannot have changed. */
  list(name: CatalogueListName): ListView {
    return this.#current().list(name, this.#clock());
  }

  /** How many items each list has now; undefined before the first snapshot. */
  counts(): Readonly<Record<CatalogueListName, number>> | undefined {
    return this.#snapshot?.counts(this.#clock());
  }

  /** A retailer or a deal, whether it is active now or not. */
  find(name: CatalogueListName, id: Uuid): CatalogueEntry | undefined {
    return this.#current().find(name, id, this.#clock());
  }

  #current(): Snapshot {
    if (this.#snapshot === undefined)
      throw unavailable('The catalogue is still being loaded. Try again shortly.', 1);
    return this.#snapshot;
  }
}
