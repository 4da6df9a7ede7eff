// Worker thread that repeatedly syncs a database and its write-ahead log until the main thread sets the pause to 0.

import { closeSync, fdatasyncSync, openSync } from 'node:fs';

export interface EarlySyncTask {
  /** Path of the log, which SQLite does not lock, so opening and closing it is safe. */
  readonly log: string;
  /** File descriptor of the database. */
  readonly database: number;
  /** Pause between two syncs, in shared memory; 0 ends the thread. */
  readonly pauseMs: Int32Array<SharedArrayBuffer>;
}

declare const self: Worker;

self.onmessage = ({ data: { log, database, pauseMs } }: MessageEvent<EarlySyncTask>) => {
  const opened = openSync(log, 'r');
  while (true) {
    const pause = Atomics.load(pauseMs, 0);
    if (pause === 0) break;
    fdatasyncSync(opened);
    fdatasyncSync(database);
    // Returns early if the main thread changes the pause.
    Atomics.wait(pauseMs, 0, pause, pause);
  }
  closeSync(opened);
  // In a worker, this ends the thread, not the process.
  process.exit();
};
