// The server's log: JSON lines on stdout, written beside the requests, so that a slow reader of the log does
// not slow them down.

import pino, { type Logger } from 'pino';
import type { ServeSettings } from '../config.ts';

/** Lines that nobody takes are dropped beyond this, so that a reader who stands still does not fill the memory. */
const UNREAD_MAX_BYTES = 8 * 1024 * 1024;

export interface ServerLog {
  readonly logger: Logger;
  /** Writes out what is still held back; the last lines before the end are the ones people look for. */
  close(): void;
}

export function openLog(level: ServeSettings['logLevel']): ServerLog {
  const destination = pino.destination({ dest: 1, sync: false, maxLength: UNREAD_MAX_BYTES });
  let isRead = true;
  // Whoever read the log has gone. The service is worth more than its log.
  destination.on('error', () => {
    isRead = false;
  });
  const logger = pino(
    { level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime },
    destination,
  );
  return {
    logger,
    close() {
      // With nobody there to read it, this would try for ever.
      if (!isRead) return;
      try {
        destination.flushSync();
      } catch {
        // Nobody is there to read it any more.
      }
    },
  };
}
