// Counts requests and errors per organisation, for the console and the metrics. The counts are plain data, which threads can
// post to each other.

import type { AccessToken } from '../domain/access-token.ts';
import type { ErrorCode } from '../domain/api-errors.ts';
import type { Clock } from '../domain/clock.ts';

/** Bounds memory use, because entries are never removed. The limit is ample: there are few codes, routes and organisations. */
const ERRORS_MAX = 2_000;

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

export interface CallerTallies {
  /** Keyed by the organisation's id. */
  readonly organisations: ReadonlyMap<number, OrganisationTally>;
  /** Keyed by code, route and organisation. */
  readonly errors: ReadonlyMap<string, ErrorTally>;
}

/** The organisation that a token belongs to. */
type Caller = Pick<AccessToken, 'orgId' | 'orgName'>;

export type CallerTally = ReturnType<typeof callerTally>;

export function callerTally(clock: Clock) {
  const organisations = new Map<number, OrganisationTally>();
  const errors = new Map<string, ErrorTally>();

  function tallyOf(id: number, name: string): OrganisationTally {
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
    tallies: { organisations, errors } as CallerTallies,
    answered(caller: Caller | undefined, status: number): void {
      if (caller === undefined) return;
      const tally = tallyOf(caller.orgId, caller.orgName);
      tally.requests += 1;
      if (status >= 400) tally.errors += 1;
    },
    /** `syncedThroughMs` is undefined if more pages follow or the window has an end. */
    polled(caller: Caller, syncedThroughMs: number | undefined): void {
      const tally = tallyOf(caller.orgId, caller.orgName);
      tally.lastPollAtMs = clock();
      tally.syncedThroughMs = latest(tally.syncedThroughMs, syncedThroughMs);
    },
    failed(code: ErrorCode, route: string, caller: Caller | undefined, requestId: string): void {
      const { orgId, orgName } = caller ?? {};
      addError({ code, route, orgId, orgName, count: 1, lastRequestId: requestId, lastAtMs: clock() });
    },
    add(others: CallerTallies): void {
      for (const [id, other] of others.organisations) {
        const tally = tallyOf(id, other.name);
        tally.requests += other.requests;
        tally.errors += other.errors;
        tally.lastPollAtMs = latest(tally.lastPollAtMs, other.lastPollAtMs);
        tally.syncedThroughMs = latest(tally.syncedThroughMs, other.syncedThroughMs);
      }
      for (const error of others.errors.values()) addError(error);
    },
  };
}

function latest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.max(one, other);
}
