// What every file format is reduced to: rows with the place where they stand. A format reader cuts and
// parses; whether a row means anything is for the checks to say.

/** Where a row stands in its file, as a person would look for it. */
export interface Place {
  /** The line on which the row starts, from 1. */
  readonly line: number;
  /** The row's number in a JSON list, from 1; lists often stand on a single line. */
  readonly item?: number | undefined;
}

export interface RawRow {
  readonly place: Place;
  readonly value: unknown;
  /** How long its text is, in characters or bytes: a batch of long rows holds fewer of them. */
  readonly length: number;
  /** Why the row cannot be used; its value then serves only to tell which row it was, if that can be told. */
  readonly problem?: FieldProblem | undefined;
}

export interface FieldProblem {
  /** Such as `coupons[2].endDate`; empty for the row as a whole. */
  readonly field: string;
  /** The rest of a sentence that starts with the field: `must be a number`. */
  readonly reason: string;
}

/**
 * Reasons of problems whose field is a name from the file, and the reasons to keep where such names must not be stored:
 * they may be anything, also what names a user.
 */
export const REASONS_WITHOUT_NAME = {
  'is an unknown field': 'has an unknown field',
  'appears twice in the same object': 'has a field twice in the same object',
  'is an unknown column': 'has an unknown column',
  'is the name of two columns': 'has two columns of the same name',
} as const;

/** A problem with a name that is not part of the format. */
export function nameProblem(field: string, reason: keyof typeof REASONS_WITHOUT_NAME): FieldProblem {
  return { field, reason };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The file cannot be read any further: from here on, nobody can tell where a row starts. */
export class BrokenFile extends Error {
  override readonly name = 'BrokenFile';
  readonly place: Place;
  readonly problem: FieldProblem;

  constructor(place: Place, problem: FieldProblem) {
    super(problem.reason);
    this.place = place;
    this.problem = problem;
  }
}

/** The rows that a cutter makes of chunks. */
export async function* cutRows<Chunk, Row>(
  chunks: AsyncIterable<Chunk>,
  cutter: { readonly rows: Row[]; push(chunk: Chunk): void; end(): void },
): AsyncGenerator<Row[]> {
  for await (const chunk of chunks) {
    try {
      cutter.push(chunk);
    } finally {
      // The rows before a break, too: their problems are told together with it.
      yield cutter.rows.splice(0);
    }
  }
  cutter.end();
}

/** Collects the bytes of one row across chunks, and lets go of them when they become too many. */
export class RowBytes {
  readonly #bytesMax: number;
  #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(piece: Uint8Array): void {
    this.#length += piece.length;
    if (this.#length > this.#bytesMax) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  /** The row's bytes, undefined when there were too many; the next row starts empty. */
  take(): Uint8Array | undefined {
    const [first = new Uint8Array(0), ...others] = this.#pieces;
    const isTooLong = this.#length > this.#bytesMax;
    const bytes = isTooLong ? undefined : others.length === 0 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    return bytes;
  }
}
