// Common interface of the benchmark topics: working folder, measuring time and report.

export interface Run {
  /** Folder for temporary files, removed after the run. */
  readonly folder: string;
  readonly seconds: number;
  readonly repeats: number;
  /** True if transactions were imported at once; false if the tables look as if they had grown row by row. */
  readonly isImported: boolean;
}

/** One performance target and the measured result. */
export interface Finding {
  readonly work: string;
  readonly target: string;
  readonly measured: string;
  /** Undefined if it could not be measured; then `measured` gives the reason. */
  readonly met: boolean | undefined;
}

export interface Report {
  readonly findings: readonly Finding[];
  /** Markdown tables, each preceded by a line of text. */
  readonly details: readonly string[];
}

export type Topic = (run: Run) => Promise<Report>;
