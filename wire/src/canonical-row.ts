// Fast path for imports: reads a line of NDJSON that is already in canonical form with a single regular expression. The line's
// text becomes the stored document, so the row is neither parsed as JSON nor validated nor serialised again.

import { z } from 'zod';
import { canonicalFormOf } from './canonical-form.ts';

/** Longer lines are parsed as JSON. Fields of shorter lines cannot exceed any limit. */
const LENGTH_MAX = 60_000;

/** The fields of a line, and its text. A copy with changed fields does not have the text. */
export class CanonicalRow {
  [field: string]: unknown;
  readonly #head: string;
  readonly #tail: string;

  constructor(head: string, tail: string) {
    this.#head = head;
    this.#tail = tail;
  }

  /** Returns the text of the line with another stamp. */
  print(stamp: string): string {
    return `${this.#head}${stamp}${this.#tail}`;
  }
}

interface LineFormat {
  /** In the order in which printJson would write them. */
  readonly fields: Readonly<Record<string, z.ZodType>>;
  /** Name of the field that print() replaces. */
  readonly stampField: string;
  /** True if the line must have the stamp. */
  readonly needsStamp: boolean;
  /** Fields that may follow the others. They are not part of the document. */
  readonly optional: Readonly<Record<string, z.ZodType>>;
}

/**
 * Returns a function that reads a line, given as a well-formed string. The function returns undefined if the line is not in
 * canonical form.
 */
export function canonicalLine({ fields, stampField, needsStamp, optional }: LineFormat) {
  const entries = Object.entries(fields);
  const place = entries.findIndex(([name]) => name === stampField);
  const [before, stamp, after] = [
    entries.slice(0, place),
    entries.slice(place, place + 1),
    entries.slice(place + 1),
  ];
  const added = Object.entries(optional);
  const pattern = new RegExp(
    `^(\\{${before.map(fieldPattern).join(',')})` +
      stamp.map((entry) => `(?:,${fieldPattern(entry)})${needsStamp ? '' : '?'}`).join('') +
      `(${after.map((entry) => `,${fieldPattern(entry)}`).join('')})` +
      `${added.map((entry) => `(?:,${fieldPattern(entry)})?`).join('')}\\}[ \\t\\r]*$`,
  );
  // Numbers of the groups: 1 is the head and `tailGroup` the tail; all others are fields.
  const tailGroup = place + 3;
  const readers = [...before, ...stamp, ...after, ...added].map(([name, schema], i) => {
    const group = i + (i <= place ? 2 : 3);
    const isOptional = i === place || i >= entries.length;
    return { name, group, isOptional, isNumber: schema instanceof z.ZodNumber };
  });
  return (line: string): CanonicalRow | undefined => {
    const match = line.length > LENGTH_MAX ? null : pattern.exec(line);
    if (match === null) return undefined;
    const row = new CanonicalRow(`${match[1]},"${stampField}":"`, `"${match[tailGroup]}}`);
    for (const { name, group, isOptional, isNumber } of readers) {
      const text = match[group];
      if (text !== undefined) row[name] = isNumber ? Number(text) : text;
      else if (!isOptional) row[name] = null;
    }
    return row;
  };
}

function fieldPattern([name, schema]: readonly [string, z.ZodType]): string {
  return `"${name}":${canonicalFormOf(schema).json}`;
}
