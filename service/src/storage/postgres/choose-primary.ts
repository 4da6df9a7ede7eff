// Chooses the primary among servers that accept writes. After a failover, the old primary may still be running, because it was
// never stopped or because it was frozen and has resumed. PostgreSQL gives every promoted standby a new, higher timeline, so of
// two servers of one system the one with the higher timeline is the primary. Pure functions.

import type { PostgresServer } from './postgres-url.ts';

/** What a server reports about itself. */
export interface ServerIdentity {
  readonly isStandby: boolean;
  /** Identifies the cluster that the server and its standbys were initialised from; null if the server does not report it. */
  readonly system: string | null;
  /** Null on a standby, or if the server does not report it. */
  readonly timeline: number | null;
  /** Distinguishes two servers from one server with two addresses. */
  readonly startedAt: string;
}

export interface Candidate extends ServerIdentity {
  readonly server: PostgresServer;
}

type Choice =
  | { readonly primary: Candidate; readonly rivals: readonly Candidate[] }
  | { readonly refusal: string };

/**
 * Returns undefined if no server accepts writes. `latest` is the identity of the last primary that this process has used;
 * a server with a lower timeline has been replaced, even if no other server responds.
 */
export function choosePrimary(servers: readonly Candidate[], latest?: ServerIdentity): Choice | undefined {
  const writable = withoutAliases(servers.filter(({ isStandby }) => !isStandby));
  const [primary, ...rivals] = writable.toSorted((a, b) => (b.timeline ?? 0) - (a.timeline ?? 0));
  if (primary === undefined) return undefined;
  if (rivals.some((rival) => !isReplacedBy(rival, primary)))
    return {
      refusal: `several PostgreSQL servers accept writes (${writable.map(({ server }) => server.address).join(', ')}), and their timelines do not show which is the primary; stop all but the primary`,
    };
  if (latest !== undefined && isReplacedBy(primary, latest))
    return {
      refusal: `the PostgreSQL server at ${primary.server.address} is on timeline ${primary.timeline}, but this process has used timeline ${latest.timeline}`,
    };
  return { primary, rivals };
}

function isReplacedBy(server: ServerIdentity, other: ServerIdentity): boolean {
  if (server.system === null || server.timeline === null || other.timeline === null) return false;
  return server.system === other.system && server.timeline < other.timeline;
}

/** A URL can list several addresses of one server, for example of a proxy. */
function withoutAliases(servers: readonly Candidate[]): Candidate[] {
  const first = new Map<string, Candidate>();
  for (const server of servers) first.getOrInsert(`${server.system} ${server.startedAt}`, server);
  return [...first.values()];
}
