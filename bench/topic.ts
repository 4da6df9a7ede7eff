// Interface of the topics that compare Offerbook with a target.

import type { Series } from './load.ts';
import { milliseconds, ratio, table, whole } from './table.ts';

export interface Run {
  /** Folder for temporary files, removed after the run. */
  readonly folder: string;
  readonly seconds: number;
  readonly repeats: number;
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
  /** Markdown tables. */
  readonly details: readonly string[];
}

export type Topic = (run: Run) => Promise<Report>;

export function joinReports(reports: readonly Report[]): Report {
  return {
    findings: reports.flatMap(({ findings }) => findings),
    details: reports.flatMap(({ details }) => details),
  };
}

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
export function atLeast(
  work: string,
  ours: Series | undefined,
  other: Series | undefined,
  factor: number,
  name: string,
): Finding {
  const target = `at least ${factor} × ${name}`;
  if (ours === undefined || other === undefined)
    return { work, target, measured: 'not available', met: undefined };
  const value = ours.timesAsFastAs(other);
  return { work, target, measured: ratio(value), met: value >= factor };
}

export function p99AtMost(
  work: string,
  ours: Series | undefined,
  other: Series | undefined,
  factor: number,
  name: string,
): Finding {
  const target = `at most ${factor} × ${name}`;
  const value = (ours?.p99Ms ?? Number.NaN) / (other?.p99Ms ?? Number.NaN);
  const met = Number.isNaN(value) ? undefined : value <= factor;
  return { work: `${work}: p99`, target, measured: ratio(value), met };
}

/** A row for each series, fastest first. */
export function seriesTable(what: string, measured: Readonly<Record<string, Series>>): string {
  const rows = Object.entries(measured)
    .toSorted(([, a], [, b]) => b.requestsPerS - a.requestsPerS)
    .map(([name, { measured: all, requestsPerS, p99Ms, failed }]) => {
      const rates = all.map((it) => it.requestsPerS);
      const range = `${whole(Math.min(...rates))} – ${whole(Math.max(...rates))}`;
      return [name, whole(requestsPerS), range, milliseconds(p99Ms), String(failed)];
    });
  return table([what, 'requests/s', 'slowest – fastest', 'p99', 'failed'], rows);
}
