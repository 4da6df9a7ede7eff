// A streaming replica of the PostgreSQL database, from which pages of transactions are read to spare the primary. A
// page and the change clock beside it come from one snapshot of the replica. So what the page says about its
// completeness is true, however far the replica is behind. Whatever is not quite right with the replica, the caller
// reads from the primary, which is never behind.

import type { ReplicaState } from '../../domain/stores.ts';
import type { TransactionPage, TransactionQuery } from '../../domain/transaction.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { Database, DatabaseOptions } from '../database.ts';
import { readTransactionPage } from '../transactions/transaction-page.ts';
import { openPostgres } from './postgres.ts';
import { ReplicaLag } from './replica-lag.ts';

const LOOK_INTERVAL_MS = 1_000;
/** A replica that is further behind is passed over, so that a change is never older when it is seen. */
const LAG_MAX_MS = 10_000;
/** A page that takes longer is read from the primary, within the time in which its caller wants an answer. */
const PAGE_TIMEOUT_MS = 500;

const OPTIONS: DatabaseOptions = {
  durable: false,
  lockTimeoutMs: 0,
  statementTimeoutMs: 1_000,
  connectionsMax: 3,
  pageConnectionsMax: 7,
  role: 'standby',
};

const POSITION_SQL = `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint AS position`;
/** No row from a server that is not following another. */
const REPLAYED_SQL = `
  SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint AS position
   WHERE pg_is_in_recovery()`;

export interface ReplicaOptions {
  readonly url: string;
  /** Told when the replica comes into use and when it goes out of it. */
  readonly onChange: (state: ReplicaState) => void;
}

export class Replica {
  readonly #primary: Database;
  readonly #database: Database;
  readonly #onChange: (state: ReplicaState) => void;
  readonly #timer: Timer;
  readonly #lag = new ReplicaLag();
  #state: ReplicaState = { isUsable: false, lagMs: 0, reason: 'it has not answered yet' };
  #looking: Promise<void> | undefined;

  constructor(primary: Database, { url, onChange }: ReplicaOptions) {
    this.#primary = primary;
    this.#database = openPostgres(url, OPTIONS);
    this.#onChange = onChange;
    this.#timer = setInterval(() => this.#look(), LOOK_INTERVAL_MS);
    this.#look();
  }

  get state(): ReplicaState {
    return this.#state;
  }

  /** The page, if the replica can give it and has come as far as the query asks for. */
  async findPage(query: TransactionQuery): Promise<TransactionPage | undefined> {
    const { atLeastMs = Number.NEGATIVE_INFINITY } = query;
    if (!this.#state.isUsable || atLeastMs === Number.POSITIVE_INFINITY) return undefined;
    try {
      const reading = readTransactionPage(this.#database, query);
      const page = await withTimeout(
        reading,
        PAGE_TIMEOUT_MS,
        () => new Error(`it has not answered for ${PAGE_TIMEOUT_MS} ms`),
      );
      return page.completeThroughMs >= atLeastMs ? page : undefined;
    } catch (error) {
      // Not before the next look is it asked again: it may be away, or in conflict with what it replays.
      this.#become({ ...this.#state, isUsable: false, reason: messageOf(error) });
      return undefined;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    await this.#database.close();
  }

  #look(): void {
    this.#looking ??= this.#measure()
      .then(
        (lagMs) =>
          lagMs > LAG_MAX_MS
            ? { isUsable: false, lagMs, reason: `it is ${Math.round(lagMs / 1_000)} s behind` }
            : { isUsable: true, lagMs },
        (error) => ({ isUsable: false, lagMs: this.#state.lagMs, reason: messageOf(error) }),
      )
      .then((state) => {
        this.#become(state);
        this.#looking = undefined;
      });
  }

  /** How old the oldest thing is that the replica does not have yet, as far as looking now and then can tell. */
  async #measure(): Promise<number> {
    const [primary, replica] = await Promise.all([
      // While the primary is away, nothing can be said about the lag, but what the replica says is still true.
      this.#primary.all<{ position: number }>(POSITION_SQL).catch(() => []),
      this.#database.all<{ position: number }>(REPLAYED_SQL),
    ]);
    const [replayed] = replica;
    if (replayed === undefined) throw new Error('it follows no other server');
    const nowMs = performance.now();
    const [current] = primary;
    if (current !== undefined) this.#lag.notePrimary(current.position, nowMs);
    return this.#lag.measureMs(replayed.position, nowMs);
  }

  #become(state: ReplicaState): void {
    const isNews = state.isUsable !== this.#state.isUsable || state.reason !== this.#state.reason;
    this.#state = state;
    if (isNews) this.#onChange(state);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
