// The in-memory catalogue that serves the four catalogue operations. It replaces whole snapshots, so no request ever sees
// part of a change. It does not build snapshots.

import { unavailable } from '../domain/api-errors.ts';
import type { Clock } from '../domain/clock.ts';
import { openSnapshot, type Snapshot } from './snapshot.ts';
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

  /** Undefined before the first call of replace(). */
  get snapshot(): Snapshot | undefined {
    return this.#snapshot;
  }

  /** Throws ApiError if there is no snapshot yet. */
  get current(): Snapshot {
    if (this.#snapshot === undefined)
      throw unavailable('The catalogue is still loading. Try again shortly.', 1);
    return this.#snapshot;
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
}
