// Counts requests by route, by organisation and by error, for the metrics and the console. The counts are plain data, which
// threads can post to each other.

import type { AccessToken } from '../domain/access-token.ts';
import type { ErrorCode } from '../domain/api-errors.ts';
import type { Clock } from '../domain/clock.ts';

/** Upper bounds in seconds; 0.5 is an alert threshold. An additional bucket counts longer durations. */
export const BUCKETS_S = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
] as const;

/** Bounds memory use, because entries are never removed. The limit is ample: there are few codes, routes and organisations. */
const ERRORS_MAX = 2_000;

export interface RouteTally {
  readonly statuses: Map<number, number>;
  /** Not cumulative: each response counts in one bucket. */
  readonly buckets: number[];
  seconds: number;
}

export type RouteTallies = ReadonlyMap<string, RouteTally>;

export interface OrganisationTally {
  readonly name: string;
  requests: number;
  /** Requests with a 4xx or 5xx response. */
  errors: number;
  /** When the organisation last received a page of transactions; undefined if never. */
  lastPollAtMs: number | undefined;
  /** Stamp through which the organisation has received every change. Only the last page of a poll sets it. */
  syncedThroughMs: number | undefined;
}

export interface ErrorTally {
  readonly code: ErrorCode;
  readonly route: string;
  /** Undefined if the request failed before authentication. */
  readonly orgId: number | undefined;
  readonly orgName: string | undefined;
  count: number;
  lastRequestId: string;
  lastAtMs: number;
}

export interface RequestTallies {
  readonly routes: RouteTallies;
  /** Keyed by the organisation's id. */
  readonly organisations: ReadonlyMap<number, OrganisationTally>;
  /** Keyed by code, route and organisation. */
  readonly errors: ReadonlyMap<string, ErrorTally>;
}

/** The organisation that a token belongs to. */
type Caller = Pick<AccessToken, 'orgId' | 'orgName'>;

export type RequestTally = ReturnType<typeof requestTally>;

export function requestTally(clock: Clock) {
  const routes = new Map<string, RouteTally>();
  const organisations = new Map<number, OrganisationTally>();
  const errors = new Map<string, ErrorTally>();
  const newRoute = () => ({ statuses: new Map(), buckets: [...BUCKETS_S.map(() => 0), 0], seconds: 0 });

  function organisation(id: number, name: string): OrganisationTally {
    const none = { name, requests: 0, errors: 0, lastPollAtMs: undefined, syncedThroughMs: undefined };
    return organisations.getOrInsert(id, none);
  }

  function addError(error: ErrorTally): void {
    const key = `${error.code} ${error.route} ${error.orgId ?? ''}`;
    const known = errors.get(key);
    if (known === undefined) {
      if (errors.size < ERRORS_MAX) errors.set(key, { ...error });
      return;
    }
    known.count += error.count;
    if (error.lastAtMs < known.lastAtMs) return;
    known.lastAtMs = error.lastAtMs;
    known.lastRequestId = error.lastRequestId;
  }

  return {
    tallies: { routes, organisations, errors } as RequestTallies,
    /** `caller` is undefined if the request has no valid token. */
    answered(route: string, status: number, durationMs: number, caller?: Caller): void {
      const tally = routes.getOrInsertComputed(route, newRoute);
      const seconds = durationMs / 1_000;
      const bucket = BUCKETS_S.findIndex((bound) => seconds <= bound);
      tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
      increase(tally.buckets, bucket < 0 ? BUCKETS_S.length : bucket, 1);
      tally.seconds += seconds;
      if (caller === undefined) return;
      const own = organisation(caller.orgId, caller.orgName);
      own.requests += 1;
      if (status >= 400) own.errors += 1;
    },
    /** `syncedThroughMs` is undefined if more pages follow or the window has an end. */
    polled(caller: Caller, syncedThroughMs: number | undefined): void {
      const tally = organisation(caller.orgId, caller.orgName);
      tally.lastPollAtMs = clock();
      tally.syncedThroughMs = latest(tally.syncedThroughMs, syncedThroughMs);
    },
    failed(code: ErrorCode, route: string, caller: Caller | undefined, requestId: string): void {
      const { orgId, orgName } = caller ?? {};
      addError({ code, route, orgId, orgName, count: 1, lastRequestId: requestId, lastAtMs: clock() });
    },
    add(others: RequestTallies): void {
      for (const [route, { statuses, buckets, seconds }] of others.routes) {
        const tally = routes.getOrInsertComputed(route, newRoute);
        for (const [status, count] of statuses) {
          tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + count);
        }
        for (const [bucket, count] of buckets.entries()) increase(tally.buckets, bucket, count);
        tally.seconds += seconds;
      }
      for (const [id, other] of others.organisations) {
        const tally = organisation(id, other.name);
        tally.requests += other.requests;
        tally.errors += other.errors;
        tally.lastPollAtMs = latest(tally.lastPollAtMs, other.lastPollAtMs);
        tally.syncedThroughMs = latest(tally.syncedThroughMs, other.syncedThroughMs);
      }
      for (const error of others.errors.values()) addError(error);
    },
  };
}

function increase(counts: number[], index: number, by: number): void {
  counts[index] = (counts[index] ?? 0) + by;
}

function latest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.max(one, other);
}
