// Request figures for the last hour. The node copies the metrics' counters, which never decrease, once a minute. The figures are
// differences between two copies, so they add no cost to requests.

import { statfsSync } from 'node:fs';
import { BUCKETS_S, type RouteTallies, type RouteTally } from '../http/request-tally.ts';

export const SAMPLE_INTERVAL_MS = 60_000;
const SAMPLES_MAX = 60;

type MachineFigures = ReturnType<typeof machineFigures>;

export type HourFigures = ReturnType<ReturnType<typeof recentHour>['figures']>;

interface Sample {
  readonly atMs: number;
  readonly routes: RouteTallies;
  readonly machine: MachineFigures;
}

export function recentHour(startedAtMs: number, startMachine: MachineFigures) {
  const samples: Sample[] = [{ atMs: startedAtMs, routes: new Map(), machine: startMachine }];
  return {
    /** Called once a minute with the current counters. */
    sample(atMs: number, routes: RouteTallies, machine: MachineFigures): void {
      samples.push({ atMs, routes: structuredClone(routes), machine });
      if (samples.length > SAMPLES_MAX) samples.shift();
    },
    /** The first sample is an hour old, or from the start of the node if that was later. The last minute has not ended yet. */
    figures(nowMs: number, routes: RouteTallies, machine: MachineFigures) {
      const all = [...samples, { atMs: nowMs, routes, machine }];
      const [first] = all as [Sample];
      const tallies = difference(first.routes, routes);
      return {
        fromMs: first.atMs,
        untilMs: nowMs,
        all: figuresOf([...tallies.values()]),
        machine,
        // Busiest route first.
        routes: [...tallies]
          .map(([route, tally]) => {
            return { route, ...figuresOf([tally]), p50Ms: quantile(tally.buckets, 0.5) * 1_000 };
          })
          .filter(({ requests }) => requests > 0)
          .toSorted((a, b) => b.requests - a.requests || (a.route < b.route ? -1 : 1)),
        minutes: all.slice(1).map((sample, i) => {
          const before = all[i] as Sample;
          const figures = figuresOf([...difference(before.routes, sample.routes).values()]);
          return { fromMs: before.atMs, untilMs: sample.atMs, ...figures, machine: sample.machine };
        }),
      };
    },
  };
}

function difference(before: RouteTallies, after: RouteTallies): Map<string, RouteTally> {
  return new Map(
    [...after].map(([route, tally]) => {
      const earlier = before.get(route);
      if (earlier === undefined) return [route, tally];
      const statuses = [...tally.statuses].map(
        ([status, count]) => [status, count - (earlier.statuses.get(status) ?? 0)] as const,
      );
      const buckets = tally.buckets.map((count, i) => count - (earlier.buckets[i] ?? 0));
      return [route, { statuses: new Map(statuses), buckets, seconds: tally.seconds - earlier.seconds }];
    }),
  );
}

/** Counts all requests, and those with status 4xx (refused) and 5xx (failed). The p99 is 0 without requests. */
function figuresOf(tallies: readonly RouteTally[]) {
  const figures = { requests: 0, refused: 0, failed: 0 };
  const buckets: number[] = [];
  for (const tally of tallies) {
    for (const [i, count] of tally.buckets.entries()) buckets[i] = (buckets[i] ?? 0) + count;
    for (const [status, count] of tally.statuses) {
      figures.requests += count;
      if (status >= 500) figures.failed += count;
      else if (status >= 400) figures.refused += count;
    }
  }
  return { ...figures, p99Ms: quantile(buckets, 0.99) * 1_000 };
}

/**
 * Returns a quantile in seconds, calculated as in Prometheus: values are assumed to be spread evenly within a bucket, and
 * values above the last bound count as that bound.
 */
export function quantile(buckets: readonly number[], share: number): number {
  const rank = share * buckets.reduce((sum, count) => sum + count, 0);
  let below = 0;
  for (const [i, bound] of BUCKETS_S.entries()) {
    const count = buckets[i] ?? 0;
    if (count > 0 && below + count >= rank) {
      const from = BUCKETS_S[i - 1] ?? 0;
      return from + (bound - from) * Math.max(0, (rank - below) / count);
    }
    below += count;
  }
  return below === 0 && rank === 0 ? 0 : (BUCKETS_S.at(-1) ?? 0);
}

/** Measures the resident memory of this node with all its workers, and the disk that stores its data. */
export function machineFigures(folder: string) {
  return { memoryBytes: process.memoryUsage.rss(), disk: diskOf(folder) };
}

/** Undefined if the folder cannot be read. */
export function diskOf(folder: string) {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    return { free: bavail * bsize, size: blocks * bsize };
  } catch {
    return undefined;
  }
}
