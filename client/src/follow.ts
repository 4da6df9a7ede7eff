// Follows an organisation's transactions so that no change is ever missed. Each walk goes over everything
// that changed after the checkpoint; the smallest Complete-Through of its pages becomes the checkpoint, but only
// when the caller has taken in the whole walk. A crash therefore repeats changes and never loses one.

import { type CallOptions, requireAtLeast } from './call.ts';
import { AbortedError, CheckpointError } from './errors.ts';
import { restMs } from './pace.ts';
import type { Page } from './page.ts';
import { type Place, parsePlace, printPlace } from './place.ts';
import { pause, type Transport } from './request.ts';
import { backoffMs, isOutage } from './retry-rules.ts';

/** Where a follower keeps its place between runs. */
export interface CheckpointStore {
  /** The text that was saved last; undefined or null before the first. */
  load(): string | null | undefined | Promise<string | null | undefined>;
  /** Keep the text as it is: a timestamp, or in the middle of a walk its place as JSON. */
  save(checkpoint: string): void | Promise<void>;
}

export interface FollowOptions extends CallOptions {
  /** Where to go on: the last value that `onCheckpoint` was given. Without it, everything is new. */
  checkpoint?: string | Date | null | undefined;
  /** Called, and awaited, when everything before this place has been consumed. Keep the text as it is. */
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
  /** Until there is nothing new, then the end; failures are thrown. For jobs that something else starts regularly. */
  once?: boolean | undefined;
}

/** Iterate for single changes, or over `pages()` to store many at once. Changes may repeat: upsert by id. */
export interface Follower<Item> extends AsyncIterable<Item> {
  pages(): AsyncGenerator<Item[], void, void>;
}

/** Fetches the page of changes at a place. */
export type FetchChanges<Item> = (place: Place) => Promise<Page<Item> & { completeThrough: string }>;

/** An outage may last for hours: knock less and less often, but at least once a minute. */
const OUTAGE = { delayMs: 1_000, delayMaxMs: 60_000, retryAfterMaxMs: 60_000 };
/** How far a checkpoint may be ahead of all that is known of the time: clocks differ, and replicas lag. */
const LEAD_MAX_MS = 3_600_000;

export function follow<Item>(
  fetchChanges: FetchChanges<Item>,
  options: FollowOptions,
  { clock, random }: Pick<Transport, 'clock' | 'random'>,
): Follower<Item> {
  const { signal, intervalMs = 10_000, store } = options;
  requireAtLeast(100, intervalMs, 'intervalMs');
  let hasAnswered = false;

  async function fetchThroughOutages(place: Place) {
    for (let failures = 1; ; failures++) {
      try {
        const page = await fetchChanges(place);
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

  async function load(): Promise<Place> {
    const start = store === undefined ? options.checkpoint : await store.load();
    return start == null ? {} : parsePlace(start);
  }

  async function save(place: Place): Promise<void> {
    const text = printPlace(place);
    await (store === undefined ? options.onCheckpoint?.(text) : store.save(text));
  }

  /** Yields the changes from a place on; returns the next checkpoint when the last of them was consumed. */
  async function* walk(place: Place) {
    const { updatedAtGreaterThan } = place;
    let { completeThrough, cursor } = place;
    // What came before this place was a page at least.
    let pages = cursor === undefined ? 0 : 1;
    let items = 0;
    do {
      const page = await fetchThroughOutages({ updatedAtGreaterThan, cursor });
      // The smallest of all pages: a later page may come from a replica that lags behind the first page's node.
      completeThrough = smaller(completeThrough, page.completeThrough);
      pages++;
      items += page.data.length;
      if (page.data.length > 0) yield page.data;
      cursor = page.cursor;
      if (cursor !== undefined) await save({ updatedAtGreaterThan, completeThrough, cursor });
    } while (cursor !== undefined);
    if (updatedAtGreaterThan === undefined || updatedAtGreaterThan <= completeThrough)
      return { next: completeThrough, pages, items };
    // Where nothing has changed for long, the time of day is later than what the service tells, and a good checkpoint.
    if (utcMs(updatedAtGreaterThan) - Math.max(clock.now(), utcMs(completeThrough)) > LEAD_MAX_MS)
      throw new CheckpointError(
        `The checkpoint ${updatedAtGreaterThan} is in the future: the service is complete through ${completeThrough}. Remove it to start from the beginning.`,
      );
    // What was complete before stays complete.
    return { next: updatedAtGreaterThan, pages, items };
  }

  async function* walkOnAndOn() {
    let place = await load();
    let lastRestMs = 0;
    while (true) {
      const wasInside = place.cursor !== undefined;
      const { next, ...walked } = yield* walk(place);
      const moved = next !== place.updatedAtGreaterThan || walked.pages > 1;
      place = { updatedAtGreaterThan: next };
      if (moved) await save(place);
      // The rest of an old walk leaves out what has changed behind it since.
      if (options.once === true && !wasInside) return;
      lastRestMs = restMs(walked, lastRestMs, intervalMs);
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

/** Of a timestamp of the service's, or of a checkpoint: without an offset both are UTC. */
function utcMs(text: string): number {
  return Date.parse(text.replace(/:[\d.]+$/, '$&Z'));
}

function smaller(a: string | undefined, b: string): string {
  return a !== undefined && a < b ? a : b;
}
