// One run of an import: reads the file in batches, counts rows and problems, and commits everything or nothing. It does not
// store rows.

import { printCount, printCountOf } from '@offerbook/wire/count.ts';
import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import { BrokenFile, type RawRow } from '@offerbook/wire/rows/raw-row.ts';
import { type FormatRules, readRows } from '@offerbook/wire/rows/read-rows.ts';
import {
  byPlace,
  ProblemList,
  printInvalidRows,
  printPlace,
  type RowProblem,
  rowProblem,
} from '@offerbook/wire/rows/row-problem.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { type ImportCounts, type ImportResult, NO_COUNTS } from '../domain/import-log.ts';
import { type ImportReport, InvalidRows, resultOf, type WholeFileOptions } from './import-report.ts';

const BATCH_ROWS = 500;
/** Ends a batch of long rows early, because several batches are in memory at the same time. */
const BATCH_LENGTH = 2 ** 20;
const LONG_ROW = BATCH_LENGTH / 4;

/** A file that would withdraw a larger percentage is probably truncated. Short lists vary more. */
const WITHDRAWN_PERCENT_MAX = { short: 50, long: 10 };
const SHORT_LIST_MAX = 100;

/**
 * An import stops after this many invalid rows. It holds a lock while it reads (on SQLite, the only write lock), and a
 * 300 KB compressed file can contain a hundred million rows.
 */
const INVALID_MAX = { refused: 10_000, skipped: 100_000 };

/** For messages about withdrawals. */
interface Withdrawal {
  /** Subject of the message. Default: this file. */
  readonly what?: string;
  /** Number of items before the import. */
  readonly total: number;
  readonly noun: string;
  readonly advice: string;
}

/** Thrown inside the store's transaction to roll back a dry run. */
const DRY_RUN = new Error('the dry run is over');

export class ImportRun {
  readonly counts: { -readonly [Name in keyof ImportCounts]: number } = { ...NO_COUNTS };
  /** Number of rows that were set aside. They are neither imported nor invalid. */
  aside = 0;
  readonly notes: string[] = [];
  readonly #source: ImportSource;
  readonly #options: WholeFileOptions;
  readonly #startedMs = performance.now();
  readonly #problems = new ProblemList();
  /** Causes of the invalid rows; undefined stands for the rows themselves. */
  readonly #causes = new Set<string | undefined>();

  constructor(source: ImportSource, options: WholeFileOptions) {
    this.#source = source;
    this.#options = options;
  }

  /** False once the run can no longer commit. Validation continues, but writing stops. */
  get isWriting(): boolean {
    return this.counts.invalid === 0 || this.#options.skipInvalid === true;
  }

  get hasChanges(): boolean {
    return this.counts.added + this.counts.changed + this.counts.withdrawn > 0;
  }

  get report(): ImportReport {
    return {
      ...this.counts,
      aside: this.aside,
      seconds: Math.round(performance.now() - this.#startedMs) / 1000,
      problems: this.#problems.listed.toSorted(byPlace),
      problemCount: this.#problems.count,
      notes: this.notes,
    };
  }

  async *batches(rules: FormatRules): AsyncGenerator<RawRow[]> {
    const ignoreUnknown = this.#options.ignoreUnknown === true;
    const rows = readRows(this.#source.chunks(), { ...rules, ignoreUnknown });
    for await (const batch of inBatches(rows)) {
      this.counts.read += batch.length;
      yield batch;
      const { bytesRead, bytesTotal } = this.#source;
      this.#options.onProgress?.({ bytesRead, bytesTotal, rows: this.counts.read });
      // Parsing a long row can leave 100 MB of garbage.
      if (batch.some((row) => row.length > LONG_ROW)) Bun.gc(true);
    }
  }

  /**
   * Counts one invalid row with its problems. Throws after too many invalid rows. If every row of the file has the same `cause`,
   * the import reports the cause instead of the problems.
   */
  reject(problems: readonly RowProblem[], cause?: string): void {
    this.counts.invalid++;
    this.#causes.add(cause);
    this.#problems.add(...problems);
    const isSkipping = this.#options.skipInvalid === true;
    const max = isSkipping ? INVALID_MAX.skipped : INVALID_MAX.refused;
    const [first] = problems;
    if (this.counts.invalid < max || first === undefined) return;
    const remedy = isSkipping
      ? ', the maximum for --skip-invalid; fix the file or split it'
      : '; fix the file or import its valid rows with --skip-invalid';
    throw this.#refusal(`stopped at ${printPlace(first)} after ${printCount(max)} invalid rows${remedy}`);
  }

  /** Stops the import because of rows that cannot be skipped. */
  refuse(problems: readonly RowProblem[], why: string): never {
    for (const problem of problems) this.reject([problem]);
    throw new InvalidRows(this.report, why);
  }

  /** Throws if there are invalid rows that must not be skipped, or no rows (probably a broken pipeline). */
  requireValid(): void {
    const { invalid, read } = this.counts;
    if (read === 0 && this.#options.allowEmpty !== true) {
      throw new BadInput(
        `${this.#source.name} has no rows; nothing was imported. If it may be empty, add --allow-empty`,
      );
    }
    if (!this.isWriting || this.#commonCause !== undefined)
      throw this.#refusal(printInvalidRows(invalid, read));
  }

  get #commonCause(): string | undefined {
    const { added, changed, unchanged, stale } = this.counts;
    const [cause] = this.#causes;
    return this.#causes.size === 1 && added + changed + unchanged + stale === 0 ? cause : undefined;
  }

  #refusal(why: string): InvalidRows {
    const cause = this.#commonCause;
    return cause === undefined ? new InvalidRows(this.report, why) : new InvalidRows(this.report, cause, []);
  }

  /** The unreadable part of the file counts as one invalid row. */
  #endAt({ place, problem }: BrokenFile): InvalidRows {
    this.counts.read++;
    this.counts.invalid++;
    this.#problems.addLast(rowProblem(place, problem));
    return new InvalidRows(this.report, 'the file cannot be read beyond this point');
  }

  /** Withdraws the items that are missing from the file; throws if they exceed the limit. */
  async withdraw(
    writer: { remove(ids: readonly Uuid[]): Promise<void> },
    gone: readonly Uuid[],
    { what = 'this file', total, noun, advice }: Withdrawal,
  ): Promise<void> {
    if (gone.length === 0) return;
    const { allowWithdrawals, maxWithdrawals } = this.#options;
    const percentMax = maxWithdrawals ?? WITHDRAWN_PERCENT_MAX[total > SHORT_LIST_MAX ? 'long' : 'short'];
    if (gone.length * 100 > total * percentMax && allowWithdrawals !== true) {
      throw new Refused(
        `${what} would withdraw ${printCount(gone.length)} of ${printCountOf(total, noun)}, more than ${percentMax} %; nothing was imported. ${advice}, add --allow-withdrawals`,
      );
    }
    await writer.remove(gone);
    this.counts.withdrawn = gone.length;
  }

  /** Runs the work in one database transaction. Rolls back if the work throws, and after a dry run. */
  async carryOut<Writer extends { finishImport(result: ImportResult): Promise<void> }>(
    write: (work: (writer: Writer) => Promise<void>) => Promise<void>,
    work: (writer: Writer) => Promise<void>,
  ): Promise<ImportReport> {
    try {
      await write(async (writer) => {
        await work(writer);
        if (this.#options.dryRun === true) throw DRY_RUN;
        await writer.finishImport(resultOf(this.report, this.#source, null));
      });
    } catch (error) {
      if (error instanceof BrokenFile) throw this.#endAt(error);
      if (error !== DRY_RUN) throw error;
    }
    return this.report;
  }
}

/** Regroups rows into full batches, because a pipe may deliver one row at a time. */
async function* inBatches(source: AsyncIterable<RawRow[]>): AsyncGenerator<RawRow[]> {
  let batch: RawRow[] = [];
  let length = 0;
  try {
    for await (const rows of source) {
      for (const row of rows) {
        batch.push(row);
        length += row.length;
        if (batch.length < BATCH_ROWS && length < BATCH_LENGTH) continue;
        yield batch;
        batch = [];
        length = 0;
      }
    }
  } catch (error) {
    // Yield the rows before the broken part, so that they are validated too.
    if (batch.length > 0) yield batch;
    throw error;
  }
  if (batch.length > 0) yield batch;
}

/** Maps the items of `source` in their order, and reads and maps up to `count` of them before they are needed. */
export async function* mapAhead<Item, Result>(
  source: AsyncGenerator<Item>,
  count: number,
  map: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  let isOver = false;
  const start = () => {
    const next = source
      .next()
      .then(async ({ done, value }) => (done === true || isOver ? undefined : { result: await map(value) }));
    // Prevents an unhandled rejection; a later await throws the error.
    next.catch(() => undefined);
    return next;
  };
  const ahead = Array.from({ length: count }, start);
  try {
    while (true) {
      const found = await ahead.shift();
      if (found === undefined) return;
      ahead.push(start());
      yield found.result;
    }
  } finally {
    isOver = true;
    // Not awaited: a pending read from an idle pipe might never end.
    source.return(undefined).catch(() => undefined);
  }
}
