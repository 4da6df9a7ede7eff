// The log of `serve` and of the sandbox: JSON lines, written beside the requests, so that a slow reader of the log does
// not slow them down.

import pino, { type Logger } from 'pino';
import type { ServeSettings } from '../../config.ts';
import { systemClock } from '../../domain/clock.ts';

/** Lines that nobody takes are dropped beyond this, so that a reader who stands still does not fill the memory. */
const UNREAD_MAX_BYTES = 8 * 1024 * 1024;

export interface ServerLog {
  readonly logger: Logger;
  /** Writes out what is still held back; the last lines before the end are the ones people look for. */
  close(): void;
}

/** Lines that come within this time are written together: a write for each took 3 µs of a request's 20. */
const HOLD_MS = 20;
const HELD_CHARACTERS_MAX = 64 * 1024;

export const STDOUT = 1;
export const STDERR = 2;

export function openLog(level: ServeSettings['logLevel'], file: typeof STDOUT | typeof STDERR): ServerLog {
  const destination = pino.destination({ dest: file, sync: false, maxLength: UNREAD_MAX_BYTES });
  let isRead = true;
  // Whoever read the log has gone. The service is worth more than its log.
  destination.on('error', () => {
    isRead = false;
  });
  let held = '';
  let timer: Timer | undefined;
  function release(): void {
    clearTimeout(timer);
    timer = undefined;
    destination.write(held);
    held = '';
  }
  const logger = pino(
    { level, base: { pid: process.pid }, timestamp: timeField() },
    {
      write(line: string) {
        held += line;
        if (held.length >= HELD_CHARACTERS_MAX) release();
        else timer ??= setTimeout(release, HOLD_MS);
      },
    },
  );
  return {
    logger,
    close() {
      // With nobody there to read it, this would try for ever.
      if (!isRead) return;
      try {
        release();
        destination.flushSync();
      } catch {
        // Nobody is there to read it any more.
      }
    },
  };
}

/** What pino's `isoTime` prints, but only once for each millisecond: many requests share one. */
function timeField(): () => string {
  let lastMs = Number.NaN;
  let text = '';
  return () => {
    const nowMs = systemClock();
    if (nowMs !== lastMs) {
      lastMs = nowMs;
      text = `,"time":"${new Date(nowMs).toISOString()}"`;
    }
    return text;
  };
}
