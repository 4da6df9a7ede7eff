// Has a thread sync a database over and over while a long write goes on, its checkpoint included. Otherwise hundreds of
// megabytes go to the disk at once in the end, and whoever syncs another file then, as every click does, waits for all of
// them. It is a thread of ours because SQLite blocks the one that writes.

import { openSync } from 'node:fs';
import type { EarlySyncTask } from './early-sync-thread.ts';

/** Most writes are over by then, and leave little to be synced. */
const LONG_WRITE_MS = 500;
/**
 * While rows are written, some twenty megabytes come together in this time. In less time, more of what is written over
 * again would reach the disk.
 */
const PAUSE_MS = 500;
/** A commit and its checkpoint write as much in this time. */
const COMMIT_PAUSE_MS = 5;

/** Handles on databases, by path. Never closed: with any handle of a process on a file, all its locks on it go, SQLite's too. */
const handles = new Map<string, number>();

/** Of one write. Begins when that has turned out to be a long one. */
export class EarlySync {
  readonly #path: string;
  /** In shared memory: how long the thread pauses between two syncs; 0 when it is to end. */
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
      // No extension: it is .ts in a checkout, and .js where the program is built.
      const thread = new Worker(new URL('./early-sync-thread', import.meta.url));
      thread.onerror = () => thread.terminate();
      const task: EarlySyncTask = { log: `${this.#path}-wal`, database, pauseMs: this.#pauseMs };
      thread.postMessage(task);
    } catch {
      // Without it the write is just as safe: SQLite syncs by itself what it relies on.
    }
  }

  #setPause(pauseMs: number): void {
    Atomics.store(this.#pauseMs, 0, pauseMs);
    Atomics.notify(this.#pauseMs, 0);
  }
}
