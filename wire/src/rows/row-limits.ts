// Size limits for rows. A small compressed file can contain rows that exhaust memory when parsed, so a row is measured before
// it is parsed.

import { printCount } from '../count.ts';
import type { ValueCounts } from './json-scan.ts';
import type { FieldProblem } from './raw-row.ts';

export interface RowLimits {
  /** UTF-8 bytes, both in the file and as stored. */
  readonly bytes: number;
  /** Strings, numbers, objects and lists at all levels. */
  readonly values: number;
  /** Distinct field names. Bun needs hundreds of bytes for each. */
  readonly names: number;
  /** Levels of nested objects and lists. */
  readonly depth: number;
}

export const TRANSACTION_LIMITS: RowLimits = { bytes: 256 * 1024, values: 1_000, names: 1_000, depth: 32 };
export const RETAILER_LIMITS: RowLimits = {
  bytes: 8 * 1024 * 1024,
  values: 400_000,
  names: 1_000,
  depth: 32,
};

export function tooLong({ bytes }: RowLimits): FieldProblem {
  const size = bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 10} KiB`;
  return { field: '', reason: `is longer than ${size}` };
}

/** A stored document can be longer than its row. The limit applies to row and document, so that every export can be imported. */
export function findDocumentExcess(document: string, limits: RowLimits): FieldProblem | undefined {
  if (!isTooLong(document, limits)) return undefined;
  return { field: '', reason: `${tooLong(limits).reason} when stored` };
}

export function isTooLong(text: string, { bytes }: RowLimits): boolean {
  // A UTF-16 code unit needs at most three bytes, so most rows need no exact count.
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes;
}

/** Returns a problem if a count exceeds its limit. */
export function findCountExcess(
  { values, depth, names }: ValueCounts,
  limits: RowLimits,
): FieldProblem | undefined {
  if (values > limits.values) {
    return { field: '', reason: `has more than ${printCount(limits.values)} values` };
  }
  if (depth > limits.depth) return { field: '', reason: `is nested more than ${limits.depth} levels deep` };
  if (names > limits.names) {
    return { field: '', reason: `has more than ${printCount(limits.names)} distinct field names` };
  }
  return undefined;
}
