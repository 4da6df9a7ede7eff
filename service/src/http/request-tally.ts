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

export type RequestTally = ReturnType<typeof requestTally>;

export function requestTally() {
  const routes = new Map<string, RouteTally>();
  const newTally = () => ({ statuses: new Map(), buckets: [...BUCKETS_S.map(() => 0), 0], seconds: 0 });
  return {
    routes: routes as RouteTallies,
    count(route: string, status: number, durationMs: number): void {
      const tally = routes.getOrInsertComputed(route, newTally);
      const seconds = durationMs / 1_000;
      const bucket = BUCKETS_S.findIndex((bound) => seconds <= bound);
      tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
      increase(tally.buckets, bucket < 0 ? BUCKETS_S.length : bucket, 1);
      tally.seconds += seconds;
    },
    add(others: RouteTallies): void {
      for (const [route, { statuses, buckets, seconds }] of others) {
        const tally = routes.getOrInsertComputed(route, newTally);
        for (const [status, count] of statuses) {
          tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + count);
        }
        for (const [bucket, count] of buckets.entries()) increase(tally.buckets, bucket, count);
        tally.seconds += seconds;
      }
    },
  };
}

function increase(counts: number[], index: number, by: number): void {
  counts[index] = (counts[index] ?? 0) + by;
}
