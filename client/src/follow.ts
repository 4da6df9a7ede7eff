// Follows an organisation's transactions without missing a change. Each walk fetches everything that changed after the
// checkpoint. The smallest Complete-Through of its pages becomes the next checkpoint, but only after the caller has
// consumed the whole walk. After a crash, changes may repeat, but none is lost.

import { type CallOptions, requireAtLeast } from './call.ts';
import { AbortedError, CheckpointError } from './errors.ts';
import type { Page } from './list.ts';
import { type Position, parsePosition, printPosition } from './position.ts';
import { pause, type Transport } from './request.ts';
import { backoffMs, isOutage } from './retry-rules.ts';

/** Stores a follower's position between runs. */
export interface CheckpointStore {
  /** Returns the last saved string; undefined or null before the first save. */
  load(): string | null | undefined | Promise<string | null | undefined>;
  /** Stores the string unchanged. The string is a timestamp or, inside a walk, the position as JSON. */
  save(checkpoint: string): void | Promise<void>;
}

export interface FollowOptions extends CallOptions {
  /** Where to resume: the last value passed to `onCheckpoint`. Omit it to start from the beginning. */
  checkpoint?: string | Date | null | undefined;
  /** Called and awaited when everything before this checkpoint has been consumed. Store the string unchanged. */
  onCheckpoint?: ((checkpoint: string) => void | Promise<void>) | undefined;
  /** Loads and saves the checkpoint; replaces `checkpoint` and `onCheckpoint`. */
  store?: CheckpointStore | undefined;
  /** Maximum pause between walks. The pause grows to this value while nothing changes. Default 10,000, minimum 100. */
  intervalMs?: number | undefined;
  /** Page size. Default 1,000, the service's maximum. */
  limit?: number | undefined;
  /** Ends the iteration. Changes that were not consumed are yielded again by the next follower. */
  signal?: AbortSignal | undefined;
  /** Called for each failure that the follower waits out, with the delay before it retries. */
  onError?: ((error: unknown, retryInMs: number) => void) | undefined;
  /** Stop when no changes are left, and throw on failure instead of waiting. For scheduled jobs. */
  once?: boolean | undefined;
}

/**
 * Iterate over the follower for single changes, or over `pages()` to store many at once. Changes may repeat: upsert by id.
 */
export interface Follower<Item> extends AsyncIterable<Item> {
  /** Yields every page that has changes. A page is consumed when the next one is requested. */
  pages(): AsyncGenerator<Page<Item>, void, void>;
}

/** Fetches the page of changes at a position. */
export type FetchChanges<Item> = (position: Position) => Promise<Page<Item> & { completeThrough: string }>;

/** An outage may last hours: back off, but retry at least about once a minute. */
const OUTAGE = { delayMs: 1_000, delayMaxMs: 60_000, retryAfterMaxMs: 60_000 };
/** How far a checkpoint is allowed to be ahead of both our clock and the service: clocks differ and replicas lag. */
const LEAD_MAX_MS = 3_600_000;
/** Pause after a walk that found changes, because more are likely soon. */
const BUSY_MS = 1_000;

export function follow<Item>(
  fetchChanges: FetchChanges<Item>,
  options: FollowOptions,
  { clock, random }: Pick<Transport, 'clock' | 'random'>,
): Follower<Item> {
  const { signal, intervalMs = 10_000, store } = options;
  requireAtLeast(100, intervalMs, 'intervalMs');
  let hasAnswered = false;

  async function fetchThroughOutages(position: Position) {
    for (let failures = 1; ; failures++) {
      try {
        const page = await fetchChanges(position);
        hasAnswered = true;
        return page;
      } catch (error) {
        if (options.once === true || !isOutage(error, hasAnswered)) throw error;
        const retryInMs = backoffMs(error, failures, OUTAGE, random());
        options.onError?.(error, retryInMs);
        await pause(clock, retryInMs, signal);
      }
    }
  }

  async function load(): Promise<Position> {
    const start = store === undefined ? options.checkpoint : await store.load();
    return start == null ? {} : parsePosition(start);
  }

  async function save(position: Position): Promise<void> {
    const text = printPosition(position);
    await (store === undefined ? options.onCheckpoint?.(text) : store.save(text));
  }

  /** Yields the pages after a position. Returns the next checkpoint once the last page is consumed. */
  async function* walk(position: Position) {
    const { updatedAtGreaterThan } = position;
    let { completeThrough, cursor } = position;
    // A cursor means that at least one page of this walk has already been consumed.
    let pages = cursor === undefined ? 0 : 1;
    let items = 0;
    do {
      const page = await fetchThroughOutages({ updatedAtGreaterThan, cursor });
      // Use the smallest: a later page can come from a replica that lags behind the first page's server.
      completeThrough = smaller(completeThrough, page.completeThrough);
      pages++;
      items += page.data.length;
      if (page.data.length > 0) yield page;
      cursor = page.cursor;
      if (cursor !== undefined) await save({ updatedAtGreaterThan, completeThrough, cursor });
    } while (cursor !== undefined);
    if (updatedAtGreaterThan === undefined || updatedAtGreaterThan <= completeThrough)
      return { next: completeThrough, pages, items };
    // If nothing has changed for a long time, a valid checkpoint can be ahead of the service, but not of our clock.
    if (utcMs(updatedAtGreaterThan) - Math.max(clock.now(), utcMs(completeThrough)) > LEAD_MAX_MS)
      throw new CheckpointError(
        `The checkpoint ${updatedAtGreaterThan} is in the future: the service is complete through ${completeThrough}. Remove it to start from the beginning.`,
      );
    // Never move the checkpoint back.
    return { next: updatedAtGreaterThan, pages, items };
  }

  async function* walkForever() {
    let position = await load();
    let lastRestMs = 0;
    while (true) {
      const wasInside = position.cursor !== undefined;
      const { next, ...walked } = yield* walk(position);
      const moved = next !== position.updatedAtGreaterThan || walked.pages > 1;
      position = { updatedAtGreaterThan: next };
      if (moved) await save(position);
      // A resumed walk skips the pages before its position, so `once` needs another walk to see changes on those pages.
      if (options.once === true && !wasInside) return;
      lastRestMs = restMs(walked, lastRestMs, intervalMs);
      await pause(clock, lastRestMs, signal);
    }
  }

  async function* pages(): AsyncGenerator<Page<Item>, void, void> {
    try {
      yield* walkForever();
    } catch (error) {
      if (!(error instanceof AbortedError)) throw error;
    }
  }

  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* page.data;
    },
  };
}

/** Converts a service timestamp or a checkpoint to milliseconds. A time without an offset is UTC. */
function utcMs(text: string): number {
  return Date.parse(text.replace(/:[\d.]+$/, '$&Z'));
}

function smaller(a: string | undefined, b: string): string {
  return a !== undefined && a < b ? a : b;
}

/**
 * Returns the pause after a walk, given the previous pause: none while there is a backlog, short after changes, and doubling up to
 * `intervalMs` while nothing changes.
 */
function restMs(
  { pages, items }: { pages: number; items: number },
  lastRestMs: number,
  intervalMs: number,
): number {
  if (pages > 1) return 0;
  const wantedMs = items > 0 ? BUSY_MS : Math.max(BUSY_MS, lastRestMs * 2);
  return Math.min(wantedMs, intervalMs);
}
