// Opens the log for `serve` and the sandbox.

import { systemClock } from '../../domain/clock.ts';
import { Logger, type LogLevel } from '../../domain/logger.ts';
import { writeAll } from '../write-all.ts';
import { LogWriter } from './log-writer.ts';

/** Longest wait for the last lines before the process exits. */
const CLOSE_MAX_MS = 1_000;

export const toStdout = (lines: string): Promise<void> => writeAll(1, Buffer.from(lines));
export const toStderr = (lines: string): Promise<void> => writeAll(2, Buffer.from(lines));

/**
 * Every line contains the process id; a worker's lines also contain its number. `write` appends lines that workers logged.
 */
export function openLog(level: LogLevel, writeOut: (lines: string) => Promise<void>, worker?: number) {
  const writer = new LogWriter(writeOut);
  const write = (lines: string) => writer.write(lines);
  const logger = new Logger(level, write, systemClock, worker === undefined ? {} : { worker });
  return { logger, write, close: () => writer.close(CLOSE_MAX_MS) };
}
