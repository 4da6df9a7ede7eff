// Reads pages of transactions from a streaming replica, to reduce the load on the primary. A page and its change clock come
// from one snapshot of the replica, so Complete-Through is correct however far the replica lags. If the replica has a
// problem, the caller reads from the primary.

import { withTimeout } from '../../domain/promises.ts';
import type { ReplicaState } from '../../domain/stores.ts';
import type { TransactionPage, TransactionQuery } from '../../domain/transaction.ts';
import type { Database, DatabaseOptions } from '../database.ts';
import { readTransactionPage } from '../transactions/transaction-page.ts';
import { openPostgres } from './postgres.ts';

const LOOK_INTERVAL_MS = 1_000;
const LAG_MAX_MS = 10_000;
/** One mark per second, so a lag of up to an hour is exact. Bounds the memory even if the replica stops replaying for weeks. */
export const MARKS_MAX = 3_600;
/** Short enough that, if the replica does not respond, the primary can still send the page before the client's deadline. */
const PAGE_TIMEOUT_MS = 500;

const OPTIONS: DatabaseOptions = {
  durable: false,
  lockTimeoutMs: 0,
  statementTimeoutMs: 1_000,
  connectionsMax: 3,
  pageConnectionsMax: 7,
  role: 'standby',
};

/** The last timeline that is recorded in the database. A standby of a primary that was replaced does not receive it. */
const TIMELINE = '(SELECT max(id) FROM timelines) AS timeline';
const POSITION_SQL = `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint AS position, ${TIMELINE}`;
/** Returns no row if the server is not a standby. */
const REPLAYED_SQL = `
  SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint AS position, ${TIMELINE}
   WHERE pg_is_in_recovery()`;

interface PositionRow {
  readonly position: number;
  readonly timeline: number | null;
}

export interface ReplicaOptions {
  readonly url: string;
  /** Called when the replica becomes usable or unusable, and when the reason changes. */
  readonly onChange: (state: ReplicaState) => void;
  /** A replica with a greater lag is not used. This bounds how late clients see a change. */
  readonly lagMaxMs?: number | undefined;
  /** Time between two measurements of the lag. */
  readonly lookIntervalMs?: number;
}

export type Replica = ReturnType<typeof openReplica>;

export function openReplica(
  primary: Database,
  { url, onChange, lagMaxMs = LAG_MAX_MS, lookIntervalMs = LOOK_INTERVAL_MS }: ReplicaOptions,
) {
  let database = openPostgres(url, OPTIONS);
  let lag = new ReplicaLag();
  let state: ReplicaState = { isUsable: false, lagMs: 0, reason: 'it has not responded yet' };
  let looking: Promise<void> | undefined;
  let timeline = 0;
  let primaryRespondedAtMs = performance.now();

  function become(next: ReplicaState): void {
    const isNews = next.isUsable !== state.isUsable || next.reason !== state.reason;
    state = next;
    if (isNews) onChange(next);
  }

  function look(): void {
    looking ??= measure()
      .then(
        (lagMs) =>
          lagMs > lagMaxMs
            ? { isUsable: false, lagMs, reason: `it is ${Math.round(lagMs / 1_000)} s behind` }
            : { isUsable: true, lagMs },
        (error) => ({ isUsable: false, lagMs: state.lagMs, reason: messageOf(error) }),
      )
      .then((next) => {
        become(next);
        if (!next.isUsable) reopen();
        looking = undefined;
      });
  }

  /** The open connections may be to a standby that was promoted; new ones may reach another standby in the URL. */
  function reopen(): void {
    void database.close().catch(() => {});
    database = openPostgres(url, OPTIONS);
  }

  /** Returns the replica's lag, as precisely as polling allows. */
  async function measure(): Promise<number> {
    const [[current], [replayed]] = await Promise.all([
      // While the primary is unreachable, the replica's pages are still correct.
      primary.all<PositionRow>(POSITION_SQL).catch(() => []),
      database.all<PositionRow>(REPLAYED_SQL),
    ]);
    if (replayed === undefined) throw new Error('it is not a standby');
    const nowMs = performance.now();
    const known = current?.timeline ?? timeline;
    // WAL positions that a failover has discarded would look like lag.
    if (known !== timeline) lag = new ReplicaLag();
    timeline = known;
    if ((replayed.timeline ?? 0) < timeline) throw new Error('it does not follow the new primary');
    if (current === undefined) {
      const silentMs = nowMs - primaryRespondedAtMs;
      if (silentMs > lagMaxMs)
        throw new Error(`the primary has not responded for ${Math.round(silentMs / 1_000)} s`);
    } else {
      primaryRespondedAtMs = nowMs;
      lag.notePrimary(current.position, nowMs);
    }
    return lag.measureMs(replayed.position, nowMs);
  }

  const timer = setInterval(look, lookIntervalMs);
  look();
  return {
    get state(): ReplicaState {
      return state;
    },

    /** Returns undefined if the replica is not usable, and 'behind' if it lags behind what the query requires. */
    async findPage(query: TransactionQuery): Promise<TransactionPage | 'behind' | undefined> {
      const { atLeastMs = Number.NEGATIVE_INFINITY } = query;
      if (!state.isUsable || atLeastMs === Number.POSITIVE_INFINITY) return undefined;
      try {
        const page = await withTimeout(
          readTransactionPage(database, query),
          PAGE_TIMEOUT_MS,
          () => new Error(`it has not responded for ${PAGE_TIMEOUT_MS} ms`),
        );
        return page.completeThroughMs >= atLeastMs ? page : 'behind';
      } catch (error) {
        // Unusable until the next poll: the replica may be unreachable, or the query conflicted with WAL replay.
        become({ ...state, isUsable: false, reason: messageOf(error) });
        return undefined;
      }
    },

    async close(): Promise<void> {
      clearInterval(timer);
      await looking;
      await database.close();
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** When the primary reached this WAL position. */
interface Mark {
  readonly position: number;
  readonly atMs: number;
}

/** Records when the primary reached each WAL position, and compares those positions with the replica's position. */
export class ReplicaLag {
  /** Positions that the replica has not reached yet, oldest first. */
  #marks: Mark[] = [];

  get marks(): number {
    return this.#marks.length;
  }

  notePrimary(position: number, atMs: number): void {
    if (position <= (this.#marks.at(-1)?.position ?? 0)) return;
    this.#marks.push({ position, atMs });
    if (this.#marks.length <= MARKS_MAX) return;
    // With the earlier time and the later position, the lag can be overestimated, but never underestimated.
    const [oldest, next] = this.#marks.splice(0, 2) as [Mark, Mark];
    this.#marks.unshift({ position: next.position, atMs: oldest.atMs });
  }

  /** Returns the age of the oldest change that a replica at this position has not replayed. */
  measureMs(replayed: number, nowMs: number): number {
    this.#marks = this.#marks.filter(({ position }) => position > replayed);
    return nowMs - (this.#marks[0]?.atMs ?? nowMs);
  }
}
