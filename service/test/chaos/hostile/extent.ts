/** How many inputs an attack sends, and how long at most. These are parameters of fast-check. */
export interface Extent {
  readonly numRuns: number;
  readonly seed: number;
  readonly interruptAfterTimeLimit: number;
}
