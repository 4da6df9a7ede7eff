// Rows as the format readers return them: a value and its position in the file. Readers do not validate.

/** Position of a row in its file. */
export interface RowPosition {
  /** Line on which the row starts, from 1. */
  readonly line: number;
  /** Number of the row in a JSON list, from 1. Needed because a list is often a single line. */
  readonly item?: number | undefined;
}

/** A row before validation. */
export interface ParsedRow {
  readonly place: RowPosition;
  readonly value: unknown;
  /** If set, the row is invalid, and its value serves only to find the id for messages. */
  readonly problem?: FieldProblem | undefined;
}

export interface RawRow extends ParsedRow {
  /** Approximate length of the text, in characters or bytes. */
  readonly length: number;
}

export interface FieldProblem {
  /** For example `coupons[2].endDate`; empty for the row as a whole. */
  readonly field: string;
  /** Completes a sentence that starts with the field: `must be a number`. */
  readonly reason: string;
}

/**
 * For problems whose field name comes from the file: each reason, with the reason to store instead. Names from a file can contain
 * personal data, so they must not be stored.
 */
export const REASONS_WITHOUT_NAME = {
  'is an unknown field': 'has an unknown field',
  'appears twice in the same object': 'has a field twice in the same object',
  'is an unknown column': 'has an unknown column',
  'is the name of two columns': 'has two columns with the same name',
} as const;

/** A problem whose field is a name from the file. */
export function nameProblem(field: string, reason: keyof typeof REASONS_WITHOUT_NAME): FieldProblem {
  return { field, reason };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The rest of the file cannot be read, because the start of the next row is unknown. */
export class BrokenFile extends Error {
  override readonly name = 'BrokenFile';
  readonly place: RowPosition;
  readonly problem: FieldProblem;

  constructor(place: RowPosition, problem: FieldProblem) {
    super(problem.reason);
    this.place = place;
    this.problem = problem;
  }
}

/** Passes chunks to `cutter`, which splits them into rows, and yields the rows. */
export async function* cutRows<Chunk, Row>(
  chunks: AsyncIterable<Chunk>,
  cutter: { readonly rows: Row[]; push(chunk: Chunk): void; end(): void },
): AsyncGenerator<Row[]> {
  for await (const chunk of chunks) {
    try {
      cutter.push(chunk);
    } finally {
      // Yield the rows before an error too, so that their problems are reported with it.
      yield cutter.rows.splice(0);
    }
  }
  cutter.end();
}

/** Collects the bytes of one row across chunks; discards them if there are too many. */
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

  /** Returns the bytes of the row, or undefined if there were too many, and starts the next row. */
  take(): Uint8Array | undefined {
    const [first = new Uint8Array(0), ...others] = this.#pieces;
    const isTooLong = this.#length > this.#bytesMax;
    const bytes = isTooLong ? undefined : others.length === 0 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    return bytes;
  }
}
