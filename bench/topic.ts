// What the benchmarks have in common: where they work, how long they measure, and what they report.

export interface Run {
  /** For files that go when the run is over. */
  readonly folder: string;
  readonly seconds: number;
  readonly repeats: number;
  /** Whether tables of transactions were imported at once, or are as if they had grown row by row. */
  readonly isImported: boolean;
}

/** One promise about speed, and what was seen of it. */
export interface Finding {
  readonly work: string;
  readonly target: string;
  readonly measured: string;
  /** Undefined when it could not be measured; `measured` says why. */
  readonly met: boolean | undefined;
}

export interface Report {
  readonly findings: readonly Finding[];
  /** Tables in Markdown, with a line before each. */
  readonly details: readonly string[];
}

export type Topic = (run: Run) => Promise<Report>;
