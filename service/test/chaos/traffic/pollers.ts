// The kinds of clients that keep a copy of an organisation's transactions by reading pages. FetchPage decides which node serves
// a page.

import { NetworkError, OfferbookClient } from '@offerbook/client';
import type { Random } from '@offerbook/sandbox/random.ts';
import { printTimestamp, type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';

export interface PageQuery {
  readonly updatedAtGreaterThan?: Timestamp | undefined;
  readonly updatedAtLessThan?: Timestamp | undefined;
  readonly passbackUid?: string | undefined;
  readonly cursor?: Uuid | undefined;
  readonly limit: number;
}

export interface Page {
  readonly rows: readonly Transaction[];
  readonly cursor: Uuid | undefined;
  readonly completeThrough: Timestamp;
}

export type FetchPage = (query: PageQuery) => Promise<Page>;

export async function* walkPages(fetchPage: FetchPage, query: PageQuery): AsyncGenerator<Page> {
  let page = await fetchPage(query);
  yield page;
  while (page.cursor !== undefined) {
    page = await fetchPage({ ...query, cursor: page.cursor });
    yield page;
  }
}

export abstract class Poller {
  abstract readonly kind: string;
  readonly copy = new Map<Uuid, Transaction>();
  protected readonly fetchPage: FetchPage;

  constructor(fetchPage: FetchPage) {
    this.fetchPage = fetchPage;
  }

  /**
   * Reads all changes since the last checkpoint, then sets the next one. If it throws, the poller was restarted; the checkpoint
   * must then not be ahead of the copy.
   */
  abstract walk(limit: number): Promise<void>;

  protected upsert(rows: readonly Transaction[]): void {
    for (const row of rows) this.copy.set(row.id, row);
  }
}

/**
 * The documented way: walk everything after the watermark, then continue from the stamp through which all pages were complete.
 * The copy and the watermark change after the last page of a walk.
 */
export class OpenWalkPoller extends Poller {
  override readonly kind: string = 'open walk';
  #watermark: Timestamp | undefined;

  override async walk(limit: number): Promise<void> {
    const pages: Page[] = [];
    const query = { updatedAtGreaterThan: this.#watermark, limit };
    for await (const page of walkPages(this.fetchPage, query)) pages.push(page);
    for (const { rows } of pages) this.upsert(rows);
    this.#watermark = this.next(pages) ?? this.#watermark;
  }

  protected next(pages: readonly Page[]): Timestamp | undefined {
    return pages.map(({ completeThrough }) => completeThrough).sort()[0];
  }
}

/**
 * A client that ignores the documentation: it continues from the greatest updatedAt that it has seen. This is safe only while no
 * other client begins a walk over the same window with its token.
 */
export class GreatestStampPoller extends OpenWalkPoller {
  override readonly kind = 'max(updatedAt)';

  protected override next(pages: readonly Page[]): Timestamp | undefined {
    return pages
      .flatMap(({ rows }) => rows.map(({ updatedAt }) => updatedAt))
      .sort()
      .at(-1);
  }
}

/** Changes occur every few milliseconds. */
const AHEAD_MAX_MS = 300;

/**
 * Polls adjacent windows with two bounds: each ends with the last millisecond that is known to be complete, and the next starts
 * right after it. Sometimes it requests a window too early. It notices this from a page's Complete-Through, abandons the walk,
 * and requests the window again later.
 */
export class TilingPoller extends Poller {
  override readonly kind = 'tiled windows';
  readonly #random: Random;
  /** The last stamp of the last window. */
  #end: Timestamp | undefined;
  /** The last stamp of a window that was requested too early. */
  #early: Timestamp | undefined;

  constructor(fetchPage: FetchPage, random: Random) {
    super(fetchPage);
    this.#random = random;
  }

  /** Reads one window or several. The last of them always ends at the current Complete-Through. */
  override async walk(limit: number): Promise<void> {
    if (this.#early !== undefined) await this.#readWindow(this.#early, limit);
    this.#early = undefined;
    const { completeThrough, rows } = await this.fetchPage({ updatedAtGreaterThan: this.#end, limit: 1 });
    const ends = rows.map((row) => row.updatedAt).filter((end) => end < completeThrough);
    if (this.#random.chance(0.5)) for (const end of ends) await this.#readWindow(end, limit);
    // Retries until the window is complete. A page with an earlier Complete-Through belongs to an earlier walk of its token;
    // the next first page with that token begins a new walk.
    while (!(await this.#readWindow(completeThrough, limit)));
    if (this.#random.chance(0.5)) {
      const early = printTimestamp(timestampMs(completeThrough) + this.#random.whole(1, AHEAD_MAX_MS));
      if (!(await this.#readWindow(early, limit))) this.#early = early;
    }
  }

  /**
   * Returns true if the window was complete. If not, abandons the walk at the first incomplete page; the other token may have
   * begun the walk earlier.
   */
  async #readWindow(end: Timestamp, limit: number): Promise<boolean> {
    const rows: Transaction[] = [];
    const window = { updatedAtGreaterThan: this.#end, updatedAtLessThan: this.lessThan(end), limit };
    for await (const page of walkPages(this.fetchPage, window)) {
      if (page.completeThrough < end) return false;
      rows.push(...page.rows);
    }
    this.upsert(rows);
    this.#end = end;
    return true;
  }

  /** Bounds are exclusive, so a window that includes its last stamp ends a millisecond later. */
  protected lessThan(end: Timestamp): Timestamp {
    return printTimestamp(timestampMs(end) + 1);
  }
}

/** Compares a walk, of one user or of all users, with the state of the database at its first page. */
export type CheckSnapshot = (
  rows: readonly Transaction[],
  at: Timestamp,
  passbackUid: string | undefined,
) => Promise<void>;

/**
 * A nightly full copy: walks through all transactions, then through those of one user. It has a single token, while pollers with
 * other tokens walk through the same window.
 */
export class FullCopyPoller extends Poller {
  override readonly kind = 'full copy';
  readonly #check: CheckSnapshot;

  constructor(fetchPage: FetchPage, check: CheckSnapshot) {
    super(fetchPage);
    this.#check = check;
  }

  override async walk(limit: number): Promise<void> {
    const rows = await this.#read({ limit });
    this.copy.clear();
    this.upsert(rows);
    const passbackUid = rows[rows.length >> 1]?.passbackUid ?? undefined;
    if (passbackUid !== undefined) await this.#read({ limit: Math.ceil(limit / 4), passbackUid });
  }

  async #read(query: PageQuery): Promise<Transaction[]> {
    const rows: Transaction[] = [];
    let at: Timestamp | undefined;
    for await (const page of walkPages(this.fetchPage, query)) {
      at ??= page.completeThrough;
      rows.push(...page.rows);
    }
    if (at !== undefined) await this.#check(rows, at, query.passbackUid);
    return rows;
  }
}

/** The client library's follower, one walk at a time. An interrupted walk resumes where it stopped. */
export class FollowerPoller extends Poller {
  override readonly kind = 'client library';
  readonly #client: OfferbookClient;
  #checkpoint: string | undefined;

  constructor(fetchPage: FetchPage, token: string) {
    super(fetchPage);
    this.#client = new OfferbookClient({
      baseUrl: 'http://chaos.invalid',
      token,
      fetch: async (url) => {
        const { limit, ...query } = Object.fromEntries(new URL(url).searchParams);
        const { rows, cursor, completeThrough } = await fetchPage({ ...query, limit: Number(limit) });
        return Response.json({ data: rows, cursor }, { headers: { 'Complete-Through': completeThrough } });
      },
      retry: { attemptsMax: 1 },
      timeoutMs: 120_000,
    });
  }

  override async walk(limit: number): Promise<void> {
    const follower = this.#client.followTransactions({
      checkpoint: this.#checkpoint,
      onCheckpoint: (checkpoint) => {
        this.#checkpoint = checkpoint;
      },
      once: true,
      limit,
    });
    try {
      for await (const { data } of follower.pages()) this.upsert(data as unknown as Transaction[]);
    } catch (error) {
      // The client wraps errors that fetchPage throws.
      throw error instanceof NetworkError ? error.cause : error;
    }
  }
}
