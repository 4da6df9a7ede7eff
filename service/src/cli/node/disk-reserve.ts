// Free space that clicks must leave on a disk. Anyone can click a link, so clicks must not fill the disk: imports would fail,
// and revoking a token would use up the revocation reserve.

import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ServeSettings } from '../../config.ts';
import { diskOf } from '../../console/recent-hour.ts';
import type { ClickStore } from '../../domain/click.ts';
import { StorageError } from '../../domain/storage-error.ts';
import type { DiskFacts } from '../../health/facts.ts';
import { CLICK_END, sqlitePath } from '../../storage/open-database.ts';

/** 0 MB turns the check off. */
export function diskReserve(folder: string, megabytes: number) {
  const isLow = () => (diskOf(folder)?.free ?? Number.POSITIVE_INFINITY) < megabytes * 1e6;

  function requireRoom(): void {
    if (!isLow()) return;
    const free = `less than ${megabytes} MB is free in ${folder} (--disk-reserve)`;
    throw new StorageError('full', `${free}; clicks are not recorded`);
  }

  return {
    isLow,
    /** Wraps a store so that writes throw while free space is low. Reading and removing clicks still works. */
    guard<Store extends ClickStore>(store: Store): Store {
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
    },
  };
}

/** The disks of the spool and of an SQLite database. */
export function diskFacts(
  { spool, activation, diskReserve: megabytes }: ServeSettings,
  databaseUrl: string,
): DiskFacts[] {
  const path = sqlitePath(databaseUrl);
  const folders = new Set([
    ...(path === undefined ? [] : [dirname(path)]),
    ...(activation === 'on' ? [spoolFolder(spool, databaseUrl)] : []),
  ]);
  return [...folders].map((folder) => ({
    folder,
    freeBytes: diskOf(folder)?.free,
    neededBytes: path !== undefined && folder === dirname(path) ? sizeOf(path) : 0,
    reserveMegabytes: activation === 'on' ? megabytes : 0,
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
