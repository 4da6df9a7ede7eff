// The last hour of a node's requests. The counts of the metrics only rise; a copy of them is kept for each minute, and what
// lies between two copies is what happened in that time. Nothing is added to what a request costs.

import { BUCKETS_S, type RouteTallies, type RouteTally } from '../http/request-tally.ts';

export const SAMPLE_INTERVAL_MS = 60_000;
const SAMPLES_MAX = 60;

/** What became of requests in some time. */
export interface RequestFigures {
  readonly requests: number;
  /** Status 4xx: what callers did wrong, or too often. */
  readonly refused: number;
  /** Status 5xx. */
  readonly failed: number;
}

export interface MinuteFigures extends RequestFigures {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface RouteFigures extends RequestFigures {
  readonly route: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Data without behaviour: it is sent to the thread that draws the pages. */
export interface HourFigures {
  /** An hour ago, or when the node started. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly all: RequestFigures;
  /** The busiest first. */
  readonly routes: readonly RouteFigures[];
  /** The oldest first. The last one is not over yet. */
  readonly minutes: readonly MinuteFigures[];
}

interface Sample {
  readonly atMs: number;
  readonly routes: RouteTallies;
}

export class RecentHour {
  readonly #samples: Sample[];

  constructor(startedAtMs: number) {
    this.#samples = [{ atMs: startedAtMs, routes: new Map() }];
  }

  /** Called once a minute with the counts as they are then. */
  sample(atMs: number, routes: RouteTallies): void {
    this.#samples.push({ atMs, routes: structuredClone(routes) });
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift();
  }

  figures(nowMs: number, routes: RouteTallies): HourFigures {
    const all = [...this.#samples, { atMs: nowMs, routes }];
    const [first] = all as [Sample];
    return {
      fromMs: first.atMs,
      untilMs: nowMs,
      all: figuresOf([...difference(first.routes, routes).values()]),
      routes: [...difference(first.routes, routes)]
        .map(([route, tally]) => ({
          route,
          ...figuresOf([tally]),
          p50Ms: quantile(tally.buckets, 0.5) * 1_000,
          p99Ms: quantile(tally.buckets, 0.99) * 1_000,
        }))
        .filter(({ requests }) => requests > 0)
        .toSorted((a, b) => b.requests - a.requests || (a.route < b.route ? -1 : 1)),
      minutes: all.slice(1).map((sample, i) => {
        const before = all[i] as Sample;
        const tallies = difference(before.routes, sample.routes);
        return { fromMs: before.atMs, untilMs: sample.atMs, ...figuresOf([...tallies.values()]) };
      }),
    };
  }
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

function figuresOf(tallies: readonly RouteTally[]): RequestFigures {
  const figures = { requests: 0, refused: 0, failed: 0 };
  for (const { statuses } of tallies) {
    for (const [status, count] of statuses) {
      figures.requests += count;
      if (status >= 500) figures.failed += count;
      else if (status >= 400) figures.refused += count;
    }
  }
  return figures;
}

/** In seconds, as Prometheus works it out: evenly spread within a bucket, and the last bound for what is beyond it. */
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
