// Parses one JSON row and reports what parsing would hide: invalid UTF-8, duplicate fields, and numbers with more digits than
// a double can store.

import { DIGITS_MAX, parseDecimal } from '../decimal.ts';
import { measureValue } from './json-scan.ts';
import { type FieldProblem, nameProblem, type RawRow, type RowPosition } from './raw-row.ts';
import { findCountExcess, isTooLong, type RowLimits, tooLong } from './row-limits.ts';

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenientDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

export const NOT_UTF8: FieldProblem = { field: '', reason: 'is not UTF-8' };

/** Returns undefined if the bytes are not valid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Converts the numbers of a row if one of them may have more digits than a double can store. */
export type NumberReader = (literal: string) => unknown;

/** `bytes` is undefined for a row that was too long. */
export function parseJsonRow(
  bytes: Uint8Array | undefined,
  place: RowPosition,
  limits: RowLimits,
  readNumber: NumberReader = parseDecimal,
): RawRow {
  if (bytes === undefined) return { place, value: undefined, length: 0, problem: tooLong(limits) };
  const text = decodeUtf8(bytes);
  if (text !== undefined) return parseJsonText(text, place, limits, readNumber);
  return { ...parseJsonText(lenientDecoder.decode(bytes), place, limits, readNumber), problem: NOT_UTF8 };
}

export function parseJsonText(
  text: string,
  place: RowPosition,
  limits: RowLimits,
  readNumber: NumberReader = parseDecimal,
): RawRow {
  const length = text.length;
  if (isTooLong(text, limits)) return { place, value: undefined, length, problem: tooLong(limits) };
  const counts = measureValue(text, limits.names);
  const excess = findCountExcess(counts, limits);
  if (excess !== undefined) return { place, value: undefined, length, problem: excess };
  const { value, problem } = parseJson(text, readNumber);
  if (problem !== undefined) return { place, value, length, problem };
  // Parsing keeps only one of the fields with the same name.
  const twice = countKeys(value) === counts.fields ? undefined : findDuplicateKey(text);
  if (twice === undefined) return { place, value, length };
  // Drop the value: the duplicate may be the id, and either occurrence may be the intended one.
  return { place, value: undefined, length, problem: isTwice(twice) };
}

export function isTwice(field: string): FieldProblem {
  return nameProblem(field, 'appears twice in the same object');
}

function parseJson(text: string, readNumber: NumberReader): { value: unknown; problem?: FieldProblem } {
  try {
    return { value: mayLoseDigits(text) ? parseExactly(text, readNumber) : JSON.parse(text) };
  } catch (error) {
    const detail = error instanceof SyntaxError ? error.message.replace(/^JSON Parse error: /, '') : '';
    // The parser's message may quote the file, so show it only if it is short printable ASCII.
    const shown = /^[\x20-\x7e]{1,60}$/.test(detail) ? ` (${detail})` : '';
    return { value: undefined, problem: { field: '', reason: `is not JSON${shown}` } };
  }
}

/** TypeScript's library does not declare `context.source`, the text of the value. */
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const parseRevived = JSON.parse as (text: string, reviver: Reviver) => unknown;

function parseExactly(text: string, readNumber: NumberReader): unknown {
  return parseRevived(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined ? readNumber(source) : value,
  );
}

const LONG_DIGITS = new RegExp(`[\\d.]{${DIGITS_MAX + 1}}`);
/** Matches only where a number can start, because quoted ids with many digits are common. */
const LONG_NUMBER = new RegExp(`(?:^|[\\s:,[])-?[\\d.]{${DIGITS_MAX + 1}}`);
const TINY_NUMBER = /[eE]-\d{3,}\s*[,}\]]/;

/** True if a double may lose digits of a number. Several simple patterns are faster than one complex pattern. */
function mayLoseDigits(text: string): boolean {
  return (LONG_DIGITS.test(text) && LONG_NUMBER.test(text)) || TINY_NUMBER.test(text);
}

/** Counts the fields of all objects in a value. */
function countKeys(value: unknown): number {
  let count = 0;
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if (Array.isArray(next)) {
      for (const child of next) if (typeof child === 'object') open.push(child);
      continue;
    }
    // for…in, because Object.values would allocate an array for every object of every row.
    for (const name in next) {
      count++;
      const child = (next as Record<string, unknown>)[name];
      if (typeof child === 'object') open.push(child);
    }
  }
  return count;
}

/** Slow, but rarely needed. */
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
