// Writes the log asynchronously, one write at a time. Lines that arrive during a write are included in the next one. If the
// log cannot be written, lines are lost, but requests, memory and shutdown are not affected.

import { systemClock } from '../../domain/clock.ts';
import { Logger, type LogLevel } from '../../domain/logger.ts';
import { STDERR, STDOUT, writeAll } from '../output.ts';

/** Lines logged within this time are written together. */
const HOLD_MS = 20;
const HELD_CHARACTERS_MAX = 64 * 1024;
/** New lines are dropped above this limit, so that a blocked reader does not exhaust memory. */
const UNREAD_CHARACTERS_MAX = 8 * 1024 * 1024;

/** Longest wait for the last lines before the process exits. */
const CLOSE_MAX_MS = 1_000;

export const toStdout = (lines: string): Promise<void> => writeAll(STDOUT, Buffer.from(lines));
export const toStderr = (lines: string): Promise<void> => writeAll(STDERR, Buffer.from(lines));

/** Every line contains the process id; a worker's lines also contain its number. */
export function openLog(level: LogLevel, writeOut: (lines: string) => Promise<void>, worker?: number) {
  const { write, close } = logWriter(writeOut);
  const logger = new Logger(level, write, systemClock, worker === undefined ? {} : { worker });
  return { logger, close: () => close(CLOSE_MAX_MS) };
}

export function logWriter(writeOut: (lines: string) => Promise<void>) {
  let held = '';
  let timer: Timer | undefined;
  /** The writes in progress; undefined if there are none. */
  let writing: Promise<void> | undefined;

  function release(): void {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeHeld().finally(() => {
      writing = undefined;
    });
  }

  async function writeHeld(): Promise<void> {
    while (held !== '') {
      const lines = held;
      held = '';
      // The disk is full, or the reader has closed the pipe. These lines are lost; later writes may succeed.
      await writeOut(lines).catch(() => {});
    }
  }

  return {
    write(lines: string): void {
      if (held.length >= UNREAD_CHARACTERS_MAX) return;
      held += lines;
      if (held.length >= HELD_CHARACTERS_MAX) release();
      else timer ??= setTimeout(release, HOLD_MS);
    },
    /** Resolves when everything has been written, or after the timeout. */
    async close(timeoutMs: number): Promise<void> {
      release();
      await Promise.race([writing, Bun.sleep(timeoutMs)]);
    },
  };
}
