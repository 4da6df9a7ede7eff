// Interface of the benchmark topics.

export interface Run {
  /** Folder for temporary files, removed after the run. */
  readonly folder: string;
  readonly seconds: number;
  readonly repeats: number;
  /** True to fill transaction tables by one import, which sorts its rows; false to insert the rows unsorted. */
  readonly isImported: boolean;
}

/** One performance target and the measured result. */
export interface Finding {
  readonly work: string;
  readonly target: string;
  readonly measured: string;
  /** Undefined if there is no measurement; `measured` then contains the reason. */
  readonly met: boolean | undefined;
}

export interface Report {
  readonly findings: readonly Finding[];
  /** Markdown tables, each preceded by a line of text. */
  readonly details: readonly string[];
}

export type Topic = (run: Run) => Promise<Report>;
