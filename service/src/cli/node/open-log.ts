// The log of `serve` and of the sandbox.

import { Logger, type LogLevel } from '../../domain/logger.ts';
import { LogWriter } from './log-writer.ts';

/** How long the end of the process may wait for the last lines, which are the ones people look for. */
const CLOSE_MAX_MS = 1_000;

export interface ServerLog {
  readonly logger: Logger;
  close(): Promise<void>;
}

export const STDOUT = 1;
export const STDERR = 2;

export function openLog(level: LogLevel, file: typeof STDOUT | typeof STDERR): ServerLog {
  const writer = new LogWriter(file);
  return {
    logger: new Logger(level, (line) => writer.write(line)),
    close: () => writer.close(CLOSE_MAX_MS),
  };
}
