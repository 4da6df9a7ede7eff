// Turns the bytes of one JSON row into a value and loses nothing on the way. Bytes that are not UTF-8, numbers with
// more digits than a double keeps, and fields given twice can only be seen here.

import { DIGITS_MAX, parseDecimal } from '../decimal.ts';
import { isBlank } from './json-scan.ts';
import { type FieldProblem, nameProblem, type Place, type RawRow } from './raw-row.ts';
import { findExcess, type RowLimits, tooLong } from './row-limits.ts';

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenientDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

export const NOT_UTF8: FieldProblem = { field: '', reason: 'is not UTF-8' };

/** The text, or undefined when the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** What becomes of a number in a row where one has more digits than a double keeps. */
export type NumberReader = (literal: string) => unknown;

/** Undefined bytes stand for a row that was too long to keep. */
export function parseJsonRow(
  bytes: Uint8Array | undefined,
  place: Place,
  limits: RowLimits,
  readNumber: NumberReader = parseDecimal,
): RawRow {
  if (bytes === undefined || bytes.length > limits.bytes) {
    return { place, value: undefined, length: 0, problem: tooLong(limits) };
  }
  const text = decodeUtf8(bytes);
  if (text !== undefined) return parseJsonText(text, place, limits, readNumber);
  return { ...parseJsonText(lenientDecoder.decode(bytes), place, limits, readNumber), problem: NOT_UTF8 };
}

export function parseJsonText(
  text: string,
  place: Place,
  limits: RowLimits,
  readNumber: NumberReader = parseDecimal,
): RawRow {
  const length = text.length;
  const excess = findExcess(text, limits);
  if (excess !== undefined) return { place, value: undefined, length, problem: excess };
  const { value, problem } = parseJson(text, readNumber);
  if (problem !== undefined) return { place, value, length, problem };
  // Equal counts prove that no field is there twice; unequal ones call for a closer look.
  if (countKeys(value) !== countKeyMarks(text)) {
    const twice = findDuplicateKey(text);
    // Which of the two was meant cannot be told, and one of them may be the id: the value is of no use.
    if (twice !== undefined) return { place, value: undefined, length, problem: isTwice(twice) };
  }
  return { place, value, length };
}

export function isTwice(field: string): FieldProblem {
  return nameProblem(field, 'appears twice in the same object');
}

function parseJson(text: string, readNumber: NumberReader): { value: unknown; problem?: FieldProblem } {
  try {
    return { value: mayLoseDigits(text) ? parseExactly(text, readNumber) : JSON.parse(text) };
  } catch (error) {
    const detail = error instanceof SyntaxError ? error.message.replace(/^JSON Parse error: /, '') : '';
    // The parser's words may quote the file; a message stays one short line whatever the file holds.
    const shown = /^[\x20-\x7e]{1,60}$/.test(detail) ? ` (${detail})` : '';
    return { value: undefined, problem: { field: '', reason: `is not JSON${shown}` } };
  }
}

/** The third argument is newer than the library's types: what stood in the text for this value. */
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const parseRevived = JSON.parse as (text: string, reviver: Reviver) => unknown;

function parseExactly(text: string, readNumber: NumberReader): unknown {
  return parseRevived(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined ? readNumber(source) : value,
  );
}

const LONG_DIGITS = new RegExp(`[\\d.]{${DIGITS_MAX + 1}}`);
/** Only where a number may stand: ids of digits and dots in quotes are common, and no number. */
const LONG_NUMBER = new RegExp(`(?:^|[\\s:,[])-?[\\d.]{${DIGITS_MAX + 1}}`);
const TINY_NUMBER = /[eE]-\d{3,}\s*[,}\]]/;

/**
 * Whether a number may lose digits as a double: 16 digits in a row, or next to nothing. Several simple expressions take a
 * third of the time of one for all.
 */
function mayLoseDigits(text: string): boolean {
  return (LONG_DIGITS.test(text) && LONG_NUMBER.test(text)) || TINY_NUMBER.test(text);
}

/** The number of fields of all objects in a value. */
function countKeys(value: unknown): number {
  let count = 0;
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if (Array.isArray(next)) {
      for (const child of next) if (typeof child === 'object') open.push(child);
      continue;
    }
    // Without a list of the values: this runs for every row.
    for (const name in next) {
      count++;
      const child = (next as Record<string, unknown>)[name];
      if (typeof child === 'object') open.push(child);
    }
  }
  return count;
}

/** How often a quote stands before a colon: once for each field, and more often when texts hold such. */
function countKeyMarks(text: string): number {
  let count = 0;
  for (let colon = text.indexOf(':'); colon !== -1; colon = text.indexOf(':', colon + 1)) {
    let before = colon - 1;
    while (isBlank(text.charCodeAt(before))) before--;
    if (text[before] === '"') count++;
  }
  return count;
}

/** Reads the text token by token, which is slow and seldom needed. */
function findDuplicateKey(text: string): string | undefined {
  const token = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}]/g;
  const open: Set<string>[] = [];
  for (const [mark, string, colon] of text.matchAll(token)) {
    if (mark === '{') open.push(new Set());
    else if (mark === '}') open.pop();
    else if (string !== undefined && colon !== undefined) {
      const key = JSON.parse(string) as string;
      const seen = open.at(-1);
      if (seen?.has(key)) return key;
      seen?.add(key);
    }
  }
  return undefined;
}
