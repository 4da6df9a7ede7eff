// Syncs a database repeatedly during a long write and its checkpoint. Otherwise, all the data would reach the disk at the end,
// and every click, which syncs a different file, would have to wait. The syncs run in a worker, because SQLite blocks the writing
// thread.

import { openSync } from 'node:fs';
import type { EarlySyncTask } from './early-sync-thread.ts';

/** Most writes finish sooner and leave little to sync. */
const LONG_WRITE_MS = 500;
/** A longer pause would sync more data at once. A shorter pause would write more pages to disk that are soon overwritten. */
const PAUSE_MS = 500;
/** Shorter than PAUSE_MS, because a commit and its checkpoint write data much faster. */
const COMMIT_PAUSE_MS = 5;

/** File descriptors of databases, by path. Never closed: closing one drops every POSIX lock this process holds on the file. */
const handles = new Map<string, number>();

/** Syncs one write, beginning LONG_WRITE_MS after the write starts. */
export function startEarlySync(path: string) {
  /** Pause between two syncs, shared with the thread; 0 ends the thread. */
  const pauseMs = new Int32Array(new SharedArrayBuffer(4)).fill(PAUSE_MS);

  function start(): void {
    try {
      const database = handles.getOrInsertComputed(path, () => openSync(path, 'r'));
      // No extension: the file is .ts in a checkout and .js in a build.
      const thread = new Worker(new URL('./early-sync-thread', import.meta.url));
      thread.onerror = () => thread.terminate();
      thread.postMessage({ log: `${path}-wal`, database, pauseMs } satisfies EarlySyncTask);
    } catch {
      // Early syncing only improves latency: SQLite itself syncs everything that durability depends on.
    }
  }

  function setPause(ms: number): void {
    Atomics.store(pauseMs, 0, ms);
    Atomics.notify(pauseMs, 0);
  }

  const timer = setTimeout(start, LONG_WRITE_MS);
  return {
    commit: () => setPause(COMMIT_PAUSE_MS),
    end(): void {
      clearTimeout(timer);
      setPause(0);
    },
  };
}
