// Counts responses by route, status and duration, for the metrics. The counts are plain data, which threads can post to each
// other.

/** Upper bounds in seconds; 0.5 is an alert threshold. An additional bucket counts longer durations. */
export const BUCKETS_S = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
] as const;

export interface RouteTally {
  readonly statuses: Map<number, number>;
  /** Not cumulative: each response counts in one bucket. */
  readonly buckets: number[];
  seconds: number;
}

export type RouteTallies = ReadonlyMap<string, RouteTally>;

export class RequestTally {
  readonly #routes = new Map<string, RouteTally>();

  get routes(): RouteTallies {
    return this.#routes;
  }

  count(route: string, status: number, durationMs: number): void {
    const tally = this.#tallyOf(route);
    const seconds = durationMs / 1_000;
    const bucket = BUCKETS_S.findIndex((bound) => seconds <= bound);
    tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
    increase(tally.buckets, bucket < 0 ? BUCKETS_S.length : bucket, 1);
    tally.seconds += seconds;
  }

  add(routes: RouteTallies): void {
    for (const [route, { statuses, buckets, seconds }] of routes) {
      const tally = this.#tallyOf(route);
      for (const [status, count] of statuses) {
        tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + count);
      }
      for (const [bucket, count] of buckets.entries()) increase(tally.buckets, bucket, count);
      tally.seconds += seconds;
    }
  }

  #tallyOf(route: string): RouteTally {
    return this.#routes.getOrInsertComputed(route, () => ({
      statuses: new Map(),
      buckets: [...BUCKETS_S.map(() => 0), 0],
      seconds: 0,
    }));
  }
}

function increase(counts: number[], index: number, by: number): void {
  counts[index] = (counts[index] ?? 0) + by;
}
