// The log of `serve` and of the sandbox: JSON lines.

import pino, { type Logger } from 'pino';
import type { ServeSettings } from '../../config.ts';
import { systemClock } from '../../domain/clock.ts';
import { LogWriter } from './log-writer.ts';

/** How long the end of the process may wait for the last lines, which are the ones people look for. */
const CLOSE_MAX_MS = 1_000;

export interface ServerLog {
  readonly logger: Logger;
  close(): Promise<void>;
}

export const STDOUT = 1;
export const STDERR = 2;

export function openLog(level: ServeSettings['logLevel'], file: typeof STDOUT | typeof STDERR): ServerLog {
  const writer = new LogWriter(file);
  const logger = pino({ level, base: { pid: process.pid }, timestamp: timeField() }, writer);
  return { logger, close: () => writer.close(CLOSE_MAX_MS) };
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
