// Follows an organisation's transactions so that no change is ever missed. Each walk goes over everything
// that changed after the checkpoint; the smallest Complete-Through of its pages becomes the checkpoint, but only
// when the caller has taken in the whole walk. A crash therefore repeats changes and never loses one.

import { AbortedError, MalformedResponseError } from './errors.ts';
import { restMs } from './pace.ts';
import type { Page } from './page.ts';
import { pause, type Transport } from './request.ts';
import { backoffMs, isOutage } from './retry-rules.ts';
import { printCheckpoint } from './timestamp.ts';

/** Where a follower keeps its place between runs. */
export interface CheckpointStore {
  /** The last checkpoint that was saved; undefined or null before the first. */
  load(): string | null | undefined | Promise<string | null | undefined>;
  save(checkpoint: string): void | Promise<void>;
}

export interface FollowOptions {
  /** Where to go on: the last value that `onCheckpoint` was given. Without it, everything is new. */
  checkpoint?: string | Date | null | undefined;
  /** Called, and awaited, when everything up to the checkpoint has been consumed. Keep it as it is. */
  onCheckpoint?: ((checkpoint: string) => void | Promise<void>) | undefined;
  /** Loads and saves the checkpoint, in place of `checkpoint` and `onCheckpoint`. */
  store?: CheckpointStore | undefined;
  /** The longest pause between two walks, when nothing happens. Default 10,000, at least 100. */
  intervalMs?: number | undefined;
  /** Changes on a page. Default 1,000, the most that the service sends. */
  limit?: number | undefined;
  /** Ends the iteration. What was not consumed comes again next time. */
  signal?: AbortSignal | undefined;
  /** Called for each failure that the follower waits out, with the time until it tries again. */
  onError?: ((error: unknown, retryInMs: number) => void) | undefined;
  /** One walk, then the end; failures are thrown. For jobs that something else starts regularly. */
  once?: boolean | undefined;
}

/** Iterate for single changes, or over `pages()` to store many at once. Changes may repeat: upsert by id. */
export interface Follower<Item> extends AsyncIterable<Item> {
  pages(): AsyncGenerator<Item[], void, void>;
}

/** Fetches a page of the changes after the checkpoint. */
export type FetchChanges<Item> = (
  checkpoint: string | undefined,
  cursor: string | undefined,
) => Promise<Page<Item>>;

const INTERVAL_MS = 10_000;
const INTERVAL_MIN_MS = 100;
/** An outage may last for hours: knock less and less often, but at least once a minute. */
const OUTAGE = { delayMs: 1_000, delayMaxMs: 60_000, retryAfterMaxMs: 60_000 };

export function follow<Item>(
  fetchChanges: FetchChanges<Item>,
  options: FollowOptions,
  { clock, random }: Pick<Transport, 'clock' | 'random'>,
): Follower<Item> {
  const { signal, intervalMs = INTERVAL_MS, store } = options;
  if (!(intervalMs >= INTERVAL_MIN_MS))
    throw new RangeError(`intervalMs must be at least ${INTERVAL_MIN_MS}`);
  let hasAnswered = false;

  async function fetchThroughOutages(checkpoint: string | undefined, cursor: string | undefined) {
    for (let failures = 1; ; failures++) {
      try {
        const page = await fetchChanges(checkpoint, cursor);
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

  /** Yields the changes after a checkpoint; returns the next checkpoint when the last of them was consumed. */
  async function* walk(checkpoint: string | undefined) {
    // The smallest of all pages: a later page may come from a replica that lags behind the first page's node.
    let completeThrough: string | undefined;
    let cursor: string | undefined;
    let pages = 0;
    let items = 0;
    do {
      const page = await fetchThroughOutages(checkpoint, cursor);
      const complete = requireCompleteThrough(page.completeThrough);
      if (completeThrough === undefined || complete < completeThrough) completeThrough = complete;
      pages++;
      items += page.data.length;
      if (page.data.length > 0) yield page.data;
      cursor = page.cursor;
    } while (cursor !== undefined);
    // What was complete before stays complete.
    const next = checkpoint !== undefined && checkpoint > completeThrough ? checkpoint : completeThrough;
    return { completeThrough: next, pages, items };
  }

  async function* walkOnAndOn() {
    const start = store === undefined ? options.checkpoint : await store.load();
    let checkpoint = start == null ? undefined : printCheckpoint(start);
    let lastRestMs = 0;
    while (true) {
      const done = yield* walk(checkpoint);
      if (done.completeThrough !== checkpoint) {
        checkpoint = done.completeThrough;
        await (store === undefined ? options.onCheckpoint?.(checkpoint) : store.save(checkpoint));
      }
      if (options.once === true) return;
      lastRestMs = restMs(done, lastRestMs, intervalMs);
      await pause(clock, lastRestMs, signal);
    }
  }

  async function* pages(): AsyncGenerator<Item[], void, void> {
    try {
      yield* walkOnAndOn();
    } catch (error) {
      if (!(error instanceof AbortedError)) throw error;
    }
  }

  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* page;
    },
  };
}

function requireCompleteThrough(header: string | undefined): string {
  if (header !== undefined) return header;
  throw new MalformedResponseError(
    'no_complete_through',
    'The answer has no Complete-Through header, without which changes could be missed. Check that no proxy removes it.',
  );
}
