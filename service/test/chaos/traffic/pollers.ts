// The kinds of clients that keep a copy of an organisation's transactions by reading pages. FetchPage decides which node serves
// a page.

import { NetworkError, OfferbookClient } from '@offerbook/client';
import type { Random } from '@offerbook/sandbox/random.ts';
import { printTimestamp, type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { newTokenText } from '../../../src/domain/access-token.ts';

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

export interface Poller {
  readonly kind: string;
  readonly copy: Map<Uuid, Transaction>;
  /**
   * Reads all changes since the last checkpoint, then sets the next one. If it throws, the poller was restarted; the checkpoint
   * must then not be ahead of the copy.
   */
  walk(limit: number): Promise<void>;
}

type Copy = Poller['copy'];

function upsert(copy: Copy, rows: readonly Transaction[]): void {
  for (const row of rows) copy.set(row.id, row);
}

/** Continues from a watermark. The copy and the watermark change after the last page of a walk. */
function watermarkPoller(
  kind: string,
  fetchPage: FetchPage,
  next: (pages: readonly Page[]) => Timestamp | undefined,
): Poller {
  const copy: Copy = new Map();
  let watermark: Timestamp | undefined;
  return {
    ...{ kind, copy },
    async walk(limit) {
      const pages: Page[] = [];
      const query = { updatedAtGreaterThan: watermark, limit };
      for await (const page of walkPages(fetchPage, query)) pages.push(page);
      for (const { rows } of pages) upsert(copy, rows);
      watermark = next(pages) ?? watermark;
    },
  };
}

/** The documented way: walk everything after the watermark, then continue from the stamp through which all pages were complete. */
export function openWalkPoller(fetchPage: FetchPage): Poller {
  return watermarkPoller(
    'open walk',
    fetchPage,
    (pages) => pages.map(({ completeThrough }) => completeThrough).sort()[0],
  );
}

/**
 * A client that ignores the documentation: it continues from the greatest updatedAt that it has seen. This is safe only while no
 * other client begins a walk over the same window with its token.
 */
export function greatestStampPoller(fetchPage: FetchPage): Poller {
  const stampsOf = (pages: readonly Page[]) => pages.flatMap(({ rows }) => rows.map((row) => row.updatedAt));
  return watermarkPoller('max(updatedAt)', fetchPage, (pages) => stampsOf(pages).sort().at(-1));
}

/** Changes occur every few milliseconds. */
const AHEAD_MAX_MS = 300;

/** Bounds are exclusive, so a window that includes its last stamp ends a millisecond later. */
const afterStamp = (end: Timestamp) => printTimestamp(timestampMs(end) + 1);

/**
 * Polls adjacent windows with two bounds: each ends with the last millisecond that is known to be complete, and the next starts
 * right after it. Sometimes it requests a window too early. It notices this from a page's Complete-Through, abandons the walk,
 * and requests the window again later.
 */
export function tilingPoller(fetchPage: FetchPage, random: Random, lessThan = afterStamp): Poller {
  const copy: Copy = new Map();
  /** The last stamp of the last window. */
  let lastEnd: Timestamp | undefined;
  /** The last stamp of a window that was requested too early. */
  let earlyEnd: Timestamp | undefined;

  /**
   * Returns true if the window was complete. If not, abandons the walk at the first incomplete page; the other token may have
   * begun the walk earlier.
   */
  async function readWindow(end: Timestamp, limit: number): Promise<boolean> {
    const rows: Transaction[] = [];
    const window = { updatedAtGreaterThan: lastEnd, updatedAtLessThan: lessThan(end), limit };
    for await (const page of walkPages(fetchPage, window)) {
      if (page.completeThrough < end) return false;
      rows.push(...page.rows);
    }
    upsert(copy, rows);
    lastEnd = end;
    return true;
  }

  return {
    ...{ kind: 'tiled windows', copy },
    /** Reads one window or several. The last of them always ends at the current Complete-Through. */
    async walk(limit) {
      if (earlyEnd !== undefined) await readWindow(earlyEnd, limit);
      earlyEnd = undefined;
      const { completeThrough, rows } = await fetchPage({ updatedAtGreaterThan: lastEnd, limit: 1 });
      const ends = rows.map((row) => row.updatedAt).filter((end) => end < completeThrough);
      if (random.chance(0.5)) for (const end of ends) await readWindow(end, limit);
      // Retries until the window is complete. A page with an earlier Complete-Through belongs to an earlier walk of its token;
      // the next first page with that token begins a new walk.
      while (!(await readWindow(completeThrough, limit)));
      if (random.chance(0.5)) {
        const early = printTimestamp(timestampMs(completeThrough) + random.whole(1, AHEAD_MAX_MS));
        if (!(await readWindow(early, limit))) earlyEnd = early;
      }
    },
  };
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
export function fullCopyPoller(fetchPage: FetchPage, check: CheckSnapshot): Poller {
  const copy: Copy = new Map();
  async function read(query: PageQuery): Promise<Transaction[]> {
    const pages: Page[] = [];
    for await (const page of walkPages(fetchPage, query)) pages.push(page);
    const rows = pages.flatMap((page) => page.rows);
    if (pages[0] !== undefined) await check(rows, pages[0].completeThrough, query.passbackUid);
    return rows;
  }
  return {
    ...{ kind: 'full copy', copy },
    async walk(limit) {
      const rows = await read({ limit });
      copy.clear();
      upsert(copy, rows);
      const passbackUid = rows[rows.length >> 1]?.passbackUid ?? undefined;
      if (passbackUid !== undefined) await read({ limit: Math.ceil(limit / 4), passbackUid });
    },
  };
}

/** The client library's follower, one walk at a time. An interrupted walk resumes where it stopped. */
export function followerPoller(fetchPage: FetchPage): Poller {
  const copy: Copy = new Map();
  const client = new OfferbookClient({
    baseUrl: 'http://chaos.invalid',
    token: newTokenText('private'),
    fetch: async (url) => {
      const { limit, ...query } = Object.fromEntries(new URL(url).searchParams);
      const { rows, cursor, completeThrough } = await fetchPage({ ...query, limit: Number(limit) });
      return Response.json({ data: rows, cursor }, { headers: { 'Complete-Through': completeThrough } });
    },
    retry: { attemptsMax: 1 },
    timeoutMs: 120_000,
  });
  let checkpoint: string | undefined;
  return {
    ...{ kind: 'client library', copy },
    async walk(limit) {
      const onCheckpoint = (reached: string) => {
        checkpoint = reached;
      };
      const follower = client.followTransactions({ checkpoint, onCheckpoint, once: true, limit });
      try {
        for await (const { data } of follower.pages()) upsert(copy, data as unknown as Transaction[]);
      } catch (error) {
        // The client wraps errors that fetchPage throws.
        throw error instanceof NetworkError ? error.cause : error;
      }
    },
  };
}
