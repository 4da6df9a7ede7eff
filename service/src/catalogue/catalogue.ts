// The catalogue in memory, from which the four catalogue operations are served. It takes up changes when it
// is told to, beside the requests, and swaps whole snapshots: nobody ever sees half of a change.

import { ApiError } from '../domain/api-errors.ts';
import type { Clock } from '../domain/clock.ts';
import type { CatalogueStore } from '../domain/stores.ts';
import { buildSnapshot } from './build/build-snapshot.ts';
import type { CatalogueListName, ListView } from './list-view.ts';
import type { Snapshot } from './snapshot.ts';

export type { CatalogueListName, CatalogueQuery, ListView } from './list-view.ts';
export type { EncodedPage } from './tables/page-writer.ts';

export class Catalogue {
  readonly #store: Pick<CatalogueStore, 'read'>;
  readonly #clock: Clock;
  #snapshot: Snapshot | undefined;
  /** Settles when the last run is over, and never rejects. */
  #lastRun: Promise<unknown> = Promise.resolve();
  /** The run that has been asked for and has not begun. */
  #nextRun: Promise<void> | undefined;

  constructor(store: Pick<CatalogueStore, 'read'>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  get ready(): boolean {
    return this.#snapshot !== undefined;
  }

  /** Of the snapshot that is being served. */
  get revision(): number | undefined {
    return this.#snapshot?.revision;
  }

  /**
   * Takes up what was committed before the call. A run that has begun may have read an older state already,
   * so a call during a run waits for one more, together with all other such calls. When it fails, the
   * snapshot stays as it was and the call rejects.
   */
  refresh(): Promise<void> {
    this.#nextRun ??= this.#lastRun.then(() => {
      this.#nextRun = undefined;
      const run = this.#replaceSnapshot();
      this.#lastRun = run.catch(() => undefined);
      return run;
    });
    return this.#nextRun;
  }

  /** The list as it is now. It is the same object for as long as its content cannot have changed. */
  list(name: CatalogueListName): ListView {
    if (this.#snapshot === undefined)
      throw new ApiError('unavailable', 'The catalogue is still being loaded.');
    return this.#snapshot.list(name, this.#clock());
  }

  async #replaceSnapshot(): Promise<void> {
    this.#snapshot = await buildSnapshot(this.#store, this.#clock);
  }
}
