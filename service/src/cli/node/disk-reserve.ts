// Free space that clicks must leave on a disk. Anyone can click a link, so clicks must not fill the disk: imports would fail,
// and revoking a token would use up the revocation reserve.

import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ServeSettings } from '../../config.ts';
import type { ClickStore } from '../../domain/click.ts';
import { StorageError } from '../../domain/storage-error.ts';
import type { DiskFacts } from '../../health/facts.ts';
import { CLICK_END, sqlitePath } from '../../storage/open-database.ts';

/** Maximum age of a measurement. */
const MEASURE_EVERY_MS = 1_000;

export class DiskReserve {
  readonly #folder: string;
  readonly #megabytes: number;
  #measuredAtMs = Number.NEGATIVE_INFINITY;
  #isLow = false;

  /** 0 MB turns the check off. */
  constructor(folder: string, megabytes: number) {
    this.#folder = folder;
    this.#megabytes = megabytes;
  }

  get isLow(): boolean {
    const nowMs = performance.now();
    if (this.#megabytes > 0 && nowMs - this.#measuredAtMs >= MEASURE_EVERY_MS) {
      this.#measuredAtMs = nowMs;
      this.#isLow = (freeBytes(this.#folder) ?? Number.POSITIVE_INFINITY) < this.#megabytes * 1e6;
    }
    return this.#isLow;
  }

  /** Wraps a store so that writes throw while free space is low. Reading and removing clicks still works. */
  guard<Store extends ClickStore>(store: Store): Store {
    const requireRoom = () => {
      if (this.isLow)
        throw new StorageError(
          'full',
          `less than ${this.#megabytes} MB is free in ${this.#folder} (--disk-reserve); clicks are not recorded`,
        );
    };
    return {
      ...store,
      async record(taps) {
        requireRoom();
        return store.record(taps);
      },
      async put(clicks) {
        requireRoom();
        return store.put(clicks);
      },
    };
  }
}

/** The disks of the spool and of an SQLite database. */
export function diskFacts(
  { spool, activation, diskReserve }: ServeSettings,
  databaseUrl: string,
): DiskFacts[] {
  const path = sqlitePath(databaseUrl);
  const folders = new Set([
    ...(path === undefined ? [] : [dirname(path)]),
    ...(activation === 'on' ? [spoolFolder(spool, databaseUrl)] : []),
  ]);
  return [...folders].map((folder) => ({
    folder,
    freeBytes: freeBytes(folder),
    neededBytes: path !== undefined && folder === dirname(path) ? sizeOf(path) : 0,
    reserveMegabytes: activation === 'on' ? diskReserve : 0,
  }));
}

function sizeOf(path: string): number {
  return ['', '-wal', CLICK_END]
    .map((end) => statSync(path + end, { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size);
}

export function spoolFolder(folder: string | undefined, databaseUrl: string): string {
  return folder ?? dirname(sqlitePath(databaseUrl) ?? './spool');
}

/** Undefined if the folder cannot be read. */
function freeBytes(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}
