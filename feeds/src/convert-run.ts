// The state of one conversion: reads the rows of all files, counts them and collects problems. Does not interpret rows. Also the
// options and the report of a conversion, and the spool that its rows are written to.

import { printCountOf } from '@offerbook/wire/count.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import { BrokenFile, type FieldProblem, type RowPosition } from '@offerbook/wire/rows/raw-row.ts';
import {
  type ImportProgress,
  ProblemList,
  printInvalidRows,
  printProblems,
  type RowReport,
  rowProblem,
} from '@offerbook/wire/rows/row-problem.ts';
import { quote } from './fields.ts';
import type { FeedRow, FeedShape } from './formats/feed-row.ts';
import type { PageCheck } from './formats/page-check.ts';
import { readFeed } from './formats/read-feed.ts';

export interface ConvertOptions {
  /** Outputs the valid rows even if other rows are invalid. */
  readonly skipInvalid?: boolean | undefined;
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
}

export interface ConvertReport extends RowReport {
  /** Number of transactions, retailers or links in the output. */
  readonly written: number;
}

/** Thrown by a conversion with invalid rows. The message is shown to the user. */
export class ConversionFailed extends BadInput {
  readonly report: ConvertReport;

  constructor(report: ConvertReport, why: string) {
    super([...printProblems(report), `Nothing was converted: ${why}.`].join('\n'));
    this.report = report;
  }
}

/** Keeps converted rows until all rows are known to be valid. */
export interface RowSpool {
  /** Rows that were appended and not dropped. */
  readonly count: number;
  /** Appends a row and returns its number, from 0. */
  append(row: string): number;
  /** Drops a row that another row replaces. */
  drop(number: number): void;
  /** Writes the appended rows and frees their memory. */
  flush(): Promise<void>;
}

/** Position of a row, including its file name. */
export interface FeedPlace extends RowPosition {
  readonly file: string;
}

export class ConvertRun {
  readonly counts = { read: 0, invalid: 0 };
  readonly notes: string[] = [];
  readonly #options: ConvertOptions;
  readonly #sources: readonly ImportSource[];
  readonly #startedMs = performance.now();
  readonly #problems = new ProblemList();
  /** Number of rows left out, by category. */
  readonly #leftOut = new Map<string, number>();

  constructor(sources: readonly ImportSource[], options: ConvertOptions) {
    this.#sources = sources;
    this.#options = options;
  }

  #report(written = 0): ConvertReport {
    const leftOut = this.#leftOut
      .entries()
      .map(([what, count]) => `Left out: ${what} (${printCountOf(count, 'row')}).`);
    return {
      ...this.counts,
      written,
      seconds: Math.round(performance.now() - this.#startedMs) / 1000,
      problems: this.#problems.listed,
      problemCount: this.#problems.count,
      notes: [...this.notes, ...leftOut],
    };
  }

  /** Yields the rows of one file in batches. Throws if the file cannot be read completely. */
  async *rows(source: ImportSource, shape: FeedShape, pages: PageCheck): AsyncGenerator<FeedRow[]> {
    try {
      for await (const rows of readFeed(source.chunks(), shape, (page) => pages.add(page))) {
        this.counts.read += rows.length;
        yield rows;
        this.#reportProgress();
      }
    } catch (error) {
      if (!(error instanceof BrokenFile)) throw error;
      // The unreadable rest of the file counts as one invalid row.
      this.counts.read++;
      this.counts.invalid++;
      this.#problems.addLast({ ...rowProblem(error.place, error.problem), file: source.name });
      throw new ConversionFailed(this.#report(), 'the file cannot be read beyond this point');
    }
  }

  /** Records the problems of an invalid row. An empty id counts as unknown. */
  reject({ file, ...place }: FeedPlace, id: string | undefined, problems: readonly FieldProblem[]): void {
    this.counts.invalid++;
    const shownId = id ? quote(id).slice(1, -1) : undefined;
    this.#problems.add(...problems.map((problem) => ({ ...rowProblem(place, problem), file, id: shownId })));
  }

  leaveOut(category: string): void {
    this.#leftOut.set(category, (this.#leftOut.get(category) ?? 0) + 1);
  }

  /** Writes the rest of the output. Throws ConversionFailed if there are invalid rows, unless they are skipped. */
  async finish(spool: RowSpool): Promise<ConvertReport> {
    const { read, invalid } = this.counts;
    if (invalid > 0 && this.#options.skipInvalid !== true)
      throw new ConversionFailed(this.#report(), printInvalidRows(invalid, read));
    await spool.flush();
    return this.#report(spool.count);
  }

  #reportProgress(): void {
    const bytesRead = this.#sources.reduce((sum, source) => sum + source.bytesRead, 0);
    const sizes = this.#sources.flatMap(({ bytesTotal }) => bytesTotal ?? []);
    const isKnown = sizes.length === this.#sources.length;
    const bytesTotal = isKnown ? sizes.reduce((sum, size) => sum + size, 0) : undefined;
    this.#options.onProgress?.({ bytesRead, bytesTotal, rows: this.counts.read });
  }
}
