// State of pulls: how far each stream of a network has been read, who is pulling, how many requests each credential may send,
// and rows that later rows of the same sale may change. A stream advances in the same database transaction as the import of
// its window, so a killed pull repeats a window and never skips one.

/** The stream of a source's catalogue, which belongs to no organisation. */
export const CATALOGUE = 'catalogue';

/** The stream that reads old sales again. */
export const REREAD = 'reread';

/**
 * Identifies a stream: the name of one of a source's date filters, CATALOGUE or REREAD. `orgId` is 0 for catalogues, and for
 * sources whose sub-ids are click ids.
 */
export interface StreamKey {
  /** Network and account, such as `awin:77777`. */
  readonly source: string;
  readonly orgId: number;
  readonly stream: string;
}

const COUNTS = ['added', 'changed', 'unchanged', 'withdrawn', 'invalid'] as const;
/** `withdrawn`: retailers that the network no longer lists. */
export type PullCounts = Readonly<Record<(typeof COUNTS)[number], number>>;

export const NO_COUNTS = Object.fromEntries(COUNTS.map((name) => [name, 0])) as PullCounts;

export function addCounts(a: PullCounts, b: PullCounts): PullCounts {
  return Object.fromEntries(COUNTS.map((name) => [name, a[name] + b[name]])) as PullCounts;
}

/** The last successful window of a stream. */
interface PulledWindow {
  /** Everything up to this time on the network's clock has been imported. */
  readonly completeThroughMs: number;
  readonly counts: PullCounts;
  /** Start time of the `pull` run that read the window. */
  readonly runMs: number;
}

export interface PullState extends StreamKey {
  /** Null for sources whose sub-ids are click ids. */
  readonly orgName: string | null;
  /** Null until the first window has been imported. */
  readonly completeThroughMs: number | null;
  readonly lastSuccessMs: number | null;
  /** When the last attempt started, whether or not it has ended. */
  readonly attemptMs: number | null;
  /** Start of the first attempt since the last success; null after a success. */
  readonly tryingSinceMs: number | null;
  /** Sums over all windows. */
  readonly counts: PullCounts;
  /** Why the last attempt that ended has failed; null if it succeeded. Never contains secrets. */
  readonly error: string | null;
  readonly failedAtMs: number | null;
  /** When the last run that read a window started. */
  readonly runMs: number | null;
  /** Time between the last two such runs; null after the first one. */
  readonly everyMs: number | null;
  /** Transactions that differed when old sales were read again; empty if there were none. */
  readonly suspects: readonly string[];
  readonly suspectedAtMs: number | null;
}

/** Start of the first failed attempt since the last success; null if the last attempt that ended has succeeded. */
export function failingSinceMs({ error, tryingSinceMs, failedAtMs }: PullState): number | null {
  return error === null ? null : (tryingSinceMs ?? failedAtMs);
}

/** How far the stream is behind: since its position, or since the first attempt if it has none. */
export function lagMs({ completeThroughMs, tryingSinceMs }: PullState, nowMs: number): number {
  return nowMs - (completeThroughMs ?? tryingSinceMs ?? nowMs);
}

/** A network's row that is one part of a sale. The sub-id is separate, so that it can be erased. */
export interface PulledRow {
  readonly saleId: string;
  readonly partId: string;
  /** 0 if unknown. */
  readonly orgId: number;
  /** The passbackUid or the click id; null if there is none or if the user was erased. */
  readonly subId: string | null;
  /** When the sale must be converted again, although no new row has arrived; null if never. */
  readonly dueAtMs: number | null;
  /** The row as JSON, without its sub-id. */
  readonly document: string;
}

/** How a network responded to a request. */
export type RequestOutcome = 'ok' | 'too many' | 'failed' | 'refused';

/** Requests that a source has sent, with any of its credentials. */
export interface SourceRequests {
  readonly source: string;
  readonly counts: Readonly<Record<RequestOutcome, number>>;
  /** Null if the database was copied since the last request. */
  readonly budget: (RequestBudget & { /** See reserveRequest. */ readonly nextAtMs: number }) | null;
}

export interface Lease {
  readonly source: string;
  readonly holder: string;
}

/** Writes in the transaction of an import. */
export interface PullWriter {
  /**
   * Keeps other processes from taking the lease until the commit. Throws Refused if the holder has lost it. Call it at the end of
   * the import: until the commit, renewals of the lease wait for it, each on one of the process's few connections.
   */
  holdLease(lease: Lease): Promise<void>;
  advance(key: StreamKey, window: PulledWindow): Promise<void>;
  putRows(source: string, rows: readonly PulledRow[]): Promise<void>;
  /** Deletes the state of all streams of a source and its request counts. Keeps the stored rows, which belong to sales. */
  forget(source: string): Promise<void>;
  /** The sales have been converted again: their rows are no longer due. */
  clearDue(source: string, saleIds: readonly string[]): Promise<void>;
}

export interface PullStore {
  list(): Promise<PullState[]>;
  find(key: StreamKey): Promise<PullState | undefined>;
  /**
   * Records that these streams are about to be read. Call it with the lease: an earlier attempt without a result was then
   * killed, which is recorded as its failure.
   */
  noteAttempt(keys: readonly StreamKey[]): Promise<void>;
  /** Returns when the first attempt since the last success started. */
  noteFailure(key: StreamKey, error: string): Promise<number>;
  /** Records a window that was read again without importing it: its end, or the transactions that differ. */
  noteReread(
    key: StreamKey,
    found: { completeThroughMs: number | null; suspects: readonly string[] },
  ): Promise<void>;
  /**
   * Reserves one request of a credential and returns when it may be sent. Requests are `intervalMs` apart, after a burst of
   * `burst` requests. All processes share this budget.
   */
  reserveRequest(credential: string, budget: RequestBudget): Promise<number>;
  countRequest(source: string, credential: string, outcome: RequestOutcome): Promise<void>;
  listRequests(): Promise<SourceRequests[]>;
  blockRequests(credential: string, budget: RequestBudget, untilMs: number): Promise<void>;
  /** Returns the stored rows of these sales; of one organisation, or of all. */
  rowsOf(source: string, saleIds: readonly string[], orgId?: number): Promise<PulledRow[]>;
  /** Returns sales whose rows are due, oldest first; of one organisation, or of all. */
  dueSales(source: string, nowMs: number, limit: number, orgId?: number): Promise<string[]>;
}

/** The part of the store that is needed to send requests. */
export type RequestStore = Pick<PullStore, 'reserveRequest' | 'blockRequests' | 'countRequest'>;

export interface RequestBudget {
  readonly intervalMs: number;
  readonly burst: number;
}
