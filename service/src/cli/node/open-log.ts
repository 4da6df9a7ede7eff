// The log of `serve` and of the sandbox.

import { systemClock } from '../../domain/clock.ts';
import { Logger, type LogLevel } from '../../domain/logger.ts';
import { writeAll } from '../write-all.ts';
import { LogWriter } from './log-writer.ts';

/** How long the end of the process may wait for the last lines, which are the ones people look for. */
const CLOSE_MAX_MS = 1_000;

export type ServerLog = ReturnType<typeof openLog>;

export const toStdout = (lines: string): Promise<void> => writeAll(1, Buffer.from(lines));
export const toStderr = (lines: string): Promise<void> => writeAll(2, Buffer.from(lines));

/**
 * Every line says which process it comes from, and which worker if it is one's. `write` is for lines that were logged
 * elsewhere: by the workers.
 */
export function openLog(level: LogLevel, writeOut: (lines: string) => Promise<void>, worker?: number) {
  const writer = new LogWriter(writeOut);
  const write = (lines: string) => writer.write(lines);
  const logger = new Logger(level, write, systemClock, worker === undefined ? {} : { worker });
  return { logger, write, close: () => writer.close(CLOSE_MAX_MS) };
}
