import type { Run } from '../report/run.ts';

/** How many inputs an attack sends, by option, and how long at most. These are parameters of fast-check. */
export function extentOf(run: Run, option: string, interruptAfterTimeLimit: number) {
  return { numRuns: run.number(option), seed: run.seed, interruptAfterTimeLimit };
}
