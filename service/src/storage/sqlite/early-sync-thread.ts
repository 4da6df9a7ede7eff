// The thread that syncs a database and its log over and over, until it is told to end.

import { closeSync, fdatasyncSync, openSync } from 'node:fs';

export interface EarlySyncTask {
  /** The path of the log. Nobody has locks on that, so it may be opened and closed. */
  readonly log: string;
  /** A handle. */
  readonly database: number;
  /** In shared memory: how long to pause between two syncs; 0 when it is to end. */
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
    // Until then, or until it is changed.
    Atomics.wait(pauseMs, 0, pause, pause);
  }
  closeSync(opened);
  // Of the thread, not of the process.
  process.exit();
};
