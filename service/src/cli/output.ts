// What commands print: one JSON document or text for people on stdout, everything else on stderr. Output that cannot be
// written is a failure of its own: whoever reads has gone, or the disk is full.

import { writeSync } from 'node:fs';
import { printJson } from '@offerbook/wire/decimal.ts';
import { writeAll } from './write-all.ts';

export const STDOUT = 1;
const STDERR = 2;

interface OutputOptions {
  readonly json?: boolean;
}

/** Has no `code`, by which a database would take it for an error of its own. */
export class OutputFailure extends Error {
  override readonly name = 'OutputFailure';
  /** As with `offerbook export catalogue | head`: whoever reads has had enough. */
  readonly isReaderGone: boolean;

  constructor(cause: unknown) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === 'ENOSPC' ? 'no space left on device' : message;
    super(`the output could not be written: ${reason}`, { cause });
    this.isReaderGone = code === 'EPIPE';
  }
}

/** Whatever goes wrong in this work is a failure of the output. */
export async function writing(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new OutputFailure(error);
  }
}

/** Resolves when the text has left this process. Throws OutputFailure. */
export function print(text: string): Promise<void> {
  return writing(() => writeAll(STDOUT, Buffer.from(text)));
}

/** The result of a command: as JSON when asked for, in words otherwise. */
export function printResult(options: OutputOptions, value: unknown, words: string): Promise<void> {
  return print(`${options.json === true ? printJson(value) : words}\n`);
}

export function printNote(text: string): void {
  try {
    writeSync(STDERR, `${text}\n`);
  } catch {
    // There is no other place to say so; the exit code tells that something was wrong.
  }
}

/** What a stranger put into a field must not reach the terminal as a command, nor turn the line around. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '?');
}

/** Columns wide enough for their longest cell. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows].map((line) => line.map(printable));
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
