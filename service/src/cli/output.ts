// Prints results on stdout, as text or as one JSON document, and everything else on stderr. A failed write throws
// OutputFailure.

import { write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { printJson } from '@offerbook/wire/decimal.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { readColumns } from '../config.ts';

export const STDOUT = 1;
export const STDERR = 2;

/** Pause before the next attempt to write to a full pipe. */
const BLOCKED_MS = 20;

/** Writes without blocking the event loop. Resolves when all bytes have been written; rejects with the operating system's error. */
export async function writeAll(file: number, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0; ) {
    try {
      const { bytesWritten } = await promisify(write)(file, rest);
      rest = rest.subarray(bytesWritten);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      await Bun.sleep(BLOCKED_MS);
    }
  }
}

/** Has no `code`, because storage treats an error with a code as a database error. */
export class OutputFailure extends Error {
  override readonly name = 'OutputFailure';
  /** True if the reader closed the pipe, as in `offerbook export catalogue | head`. */
  readonly isReaderGone: boolean;

  constructor(cause: unknown) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === 'ENOSPC' ? 'no space left on device' : message;
    super(`cannot write the output: ${reason}`, { cause });
    this.isReaderGone = code === 'EPIPE';
  }
}

/** Converts every error thrown by `work` to an OutputFailure. */
export async function writing(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new OutputFailure(error);
  }
}

/** Resolves when the text has been written. Throws OutputFailure. */
export function print(text: string): Promise<void> {
  return writing(() => writeAll(STDOUT, Buffer.from(text)));
}

/** Prints a command's result: `value` as JSON with --json, `text` without. */
export function printResult({ json }: { json?: boolean }, value: unknown, text: string): Promise<void> {
  return print(`${json === true ? escapeBidi(printJson(value)) : printableLines(text)}\n`);
}

export function printNote(text: string): void {
  try {
    writeSync(STDERR, `${printableLines(text)}\n`);
  } catch {
    // stderr is closed. The exit code still reports the failure.
  }
}

export function printTime(ms: number | null): string | null {
  return ms === null ? null : printTimestamp(ms);
}

/** Replaces control and bidirectional characters, which could control the terminal or reorder the line. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '?');
}

function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** JSON text with the same value. */
function escapeBidi(json: string): string {
  return json.replaceAll(/\p{Bidi_Control}/gu, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${code}`;
  });
}

/** The last column is wrapped if a terminal leaves it at least this width. */
const WRAPPED_WIDTH_MIN = 30;

/**
 * Aligns the columns, which are named by the fields of the rows, and right-aligns numbers. If a terminal is too narrow for the
 * table, wraps the last column, or prints every row as lines of names and values, so that no id is cut. Returns `empty` if there
 * are no rows.
 */
export function table(
  rows: readonly Readonly<Record<string, string>>[],
  empty = '',
  widthMax = terminalWidth(),
): string {
  const [first] = rows;
  if (first === undefined) return empty;
  const cells = rows.map((row) => Object.values(row).map(printable));
  const lines = [Object.keys(first), ...cells];
  const widths = Object.keys(first).map((_, column) => widest(lines.map((line) => line[column] ?? '')));
  const lastWidth = widths.pop() ?? 0;
  const before = widths.reduce((sum, width) => sum + width + 2, 0);
  const left = widthMax - before;
  if (lastWidth > left && left < WRAPPED_WIDTH_MIN) return records(lines, widthMax);
  widths.push(Math.min(lastWidth, left));
  const isNumeric = widths.map((_, column) => cells.every((row) => /^[\d,.]*$/.test(row[column] ?? '')));
  return lines
    .flatMap((line) => {
      const [last = '', ...more] = wrapped(line.at(-1) ?? '', left);
      const cells = [...line.slice(0, -1), last].map((cell, column) => {
        const padding = ' '.repeat(Math.max(0, (widths[column] ?? 0) - Bun.stringWidth(cell)));
        return isNumeric[column] === true ? `${padding}${cell}` : `${cell}${padding}`;
      });
      return [cells.join('  ').trimEnd(), ...more.map((part) => ' '.repeat(before) + part)];
    })
    .join('\n');
}

/** Wraps text at spaces to lines of at most `width` columns. A longer word gets its own line. */
function wrapped(text: string, width: number): string[] {
  return Bun.wrapAnsi(text, Math.max(1, width)).split('\n');
}

function records([header = [], ...rows]: readonly (readonly string[])[], widthMax: number): string {
  const width = widest(header) + 2;
  return rows
    .map((row) =>
      row
        .flatMap((cell, column) =>
          cell === ''
            ? []
            : wrapped(cell, widthMax - width).map(
                (line, i) => (i === 0 ? (header[column] ?? '') : '').padEnd(width) + line,
              ),
        )
        .join('\n'),
    )
    .join('\n\n');
}

function widest(cells: readonly string[]): number {
  return Math.max(...cells.map((cell) => Bun.stringWidth(cell)));
}

/** Infinite if stdout is not a terminal: scripts expect one line per row. */
export function terminalWidth(): number {
  if (!process.stdout.isTTY) return Number.POSITIVE_INFINITY;
  return readColumns() ?? process.stdout.columns ?? Number.POSITIVE_INFINITY;
}
