// Interface of the topics that compare Offerbook with a target.

import type { Comparison, Series } from './load.ts';
import { ratio } from './table.ts';

export interface Run extends Comparison {
  /** Folder for temporary files, removed after the run. */
  readonly folder: string;
}

/** One performance target and the measured result. */
export interface Finding {
  readonly work: string;
  readonly target: string;
  readonly measured: string;
  readonly met: boolean;
}

export type Topic = (run: Run) => Promise<Finding[]>;

/** `label` introduces the limit in the target, such as "under". */
export function atMost(
  work: string,
  label: string,
  value: number,
  max: number,
  format: (value: number) => string,
): Finding {
  return { work, target: `${label} ${format(max)}`, measured: format(value), met: value <= max };
}

/** Target for the throughput relative to that of `name`. */
export function atLeast(work: string, ours: Series, other: Series, factor: number, name: string): Finding {
  const value = ours.timesAsFastAs(other);
  return { work, target: `at least ${factor} × ${name}`, measured: ratio(value), met: value >= factor };
}

export function p99AtMost(work: string, ours: Series, other: Series, factor: number, name: string): Finding {
  const value = ours.p99Ms / other.p99Ms;
  return {
    work: `${work}: p99`,
    target: `at most ${factor} × ${name}`,
    measured: ratio(value),
    met: value <= factor,
  };
}
