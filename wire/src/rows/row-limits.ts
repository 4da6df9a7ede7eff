// How large one row may be. A small packed file can unpack to rows that would fill the memory once they are parsed,
// so a row is measured as text, before anything is made of it. A row beyond a limit is a bad row like any other.

import { printCount } from '../count.ts';
import { measureValue } from './json-scan.ts';
import type { FieldProblem } from './raw-row.ts';

export interface RowLimits {
  /** Of the row as UTF-8, as it stands in the file and as it is stored. */
  readonly bytes: number;
  /** Texts, numbers, objects and lists, all levels together. */
  readonly values: number;
  /** Different names of fields: the runtime keeps hundreds of bytes for each. */
  readonly names: number;
  /** How many objects and lists may be open at once. */
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

/** A document may be longer than the row that it was made from, and must not be: what is exported can be imported. */
export function findDocumentExcess(document: string, limits: RowLimits): FieldProblem | undefined {
  if (!isTooLong(document, limits)) return undefined;
  return { field: '', reason: `${tooLong(limits).reason} once it is written out in full` };
}

/** Whether a text takes more bytes as UTF-8 than a row may have. */
function isTooLong(text: string, { bytes }: RowLimits): boolean {
  // A character takes at most three bytes, so that most texts need not be counted.
  return text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes);
}

/** Which limit a JSON text breaks, if any. */
export function findExcess(text: string, limits: RowLimits): FieldProblem | undefined {
  if (isTooLong(text, limits)) return tooLong(limits);
  // A value takes two characters at least, and a level a bracket: short, flat rows need no closer look.
  const isShort = text.length <= 2 * Math.min(limits.values, limits.names);
  if (isShort && countBrackets(text) <= limits.depth) return undefined;
  return findCountExcess(measureValue(Buffer.from(text.trimStart()), limits.names + 1), limits);
}

/** Which limit a value breaks by what it consists of, if any. */
export function findCountExcess(
  { values, depth, names }: Omit<RowLimits, 'bytes'>,
  limits: RowLimits,
): FieldProblem | undefined {
  if (values > limits.values) {
    return { field: '', reason: `has more than ${printCount(limits.values)} values` };
  }
  if (depth > limits.depth) return { field: '', reason: `is nested more than ${limits.depth} levels deep` };
  if (names > limits.names) {
    return { field: '', reason: `has more than ${printCount(limits.names)} different names of fields` };
  }
  return undefined;
}

function countBrackets(text: string): number {
  let count = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) count++;
  }
  return count;
}
