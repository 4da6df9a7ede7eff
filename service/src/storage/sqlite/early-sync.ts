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
export class EarlySync {
  readonly #path: string;
  /** Pause between two syncs, shared with the thread; 0 ends the thread. */
  readonly #pauseMs = new Int32Array(new SharedArrayBuffer(4)).fill(PAUSE_MS);
  readonly #timer: Timer;

  constructor(path: string) {
    this.#path = path;
    this.#timer = setTimeout(() => this.#start(), LONG_WRITE_MS);
  }

  commit(): void {
    this.#setPause(COMMIT_PAUSE_MS);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#setPause(0);
  }

  #start(): void {
    try {
      const database = handles.get(this.#path) ?? openSync(this.#path, 'r');
      handles.set(this.#path, database);
      // No extension: the file is .ts in a checkout and .js in a build.
      const thread = new Worker(new URL('./early-sync-thread', import.meta.url));
      thread.onerror = () => thread.terminate();
      const task: EarlySyncTask = { log: `${this.#path}-wal`, database, pauseMs: this.#pauseMs };
      thread.postMessage(task);
    } catch {
      // Early syncing only improves latency: SQLite itself syncs everything that durability depends on.
    }
  }

  #setPause(pauseMs: number): void {
    Atomics.store(this.#pauseMs, 0, pauseMs);
    Atomics.notify(this.#pauseMs, 0);
  }
}
