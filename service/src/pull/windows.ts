// Chooses the next period to request from a network, and tracks the progress of a stream in this run. Windows go from old to new
// and overlap, because networks list changes late.

import type { PullStream, PullWindow } from '@offerbook/feeds/pull/network-pull.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS, wholeSecond } from '@offerbook/wire/time.ts';
import { addCounts, NO_COUNTS, type PullCounts, type StreamKey } from '../domain/pull.ts';
import { NO_FAILURE, type PullOptions, type StreamFailure, type StreamReport } from './source-run.ts';

/** Changes of the last minutes may not be listed yet. */
export const SETTLE_MS = 10 * MINUTE_MS;

/**
 * Returns undefined if the stream is up to date. `startMs` is where a stream without state begins. Times are whole seconds, the
 * precision of the networks' filters.
 */
export function nextWindow(
  { overlapMs, historyMs }: PullStream,
  completeThroughMs: number | undefined,
  { startMs, nowMs, widthMs }: { readonly startMs: number; readonly nowMs: number; readonly widthMs: number },
): PullWindow | undefined {
  const wantedMs = completeThroughMs === undefined ? startMs : completeThroughMs - overlapMs;
  const fromMs = wholeSecond(Math.max(wantedMs, nowMs - historyMs + SECOND_MS));
  const toMs = wholeSecond(Math.min(fromMs + widthMs, nowMs - SETTLE_MS));
  return toMs > Math.max(fromMs, completeThroughMs ?? 0) ? { fromMs, toMs } : undefined;
}

/** Length of the period that the stream has not read and for which the network may no longer have data; 0 if there is none. */
export function lostMs(
  { historyMs, keptMs = historyMs }: PullStream,
  completeThroughMs: number | undefined,
  nowMs: number,
): number {
  return completeThroughMs === undefined ? 0 : Math.max(0, nowMs - keptMs - completeThroughMs);
}

/** Networks change sales for about a year, so a first pull starts here, and sales are read again for as long. */
export const HISTORY_MS = 396 * DAY_MS;

/** Returns the next window of the sales that are read again. After the newest sales, continues with the oldest ones. */
export function nextReread(
  { windowMs, historyMs }: PullStream,
  atMs: number | null,
  nowMs: number,
): PullWindow {
  const oldestMs = nowMs - Math.min(HISTORY_MS, historyMs) + SECOND_MS;
  const newestMs = nowMs - SETTLE_MS;
  const fromMs = wholeSecond(atMs === null || atMs < oldestMs || atMs >= newestMs ? oldestMs : atMs);
  return { fromMs, toMs: wholeSecond(Math.min(fromMs + windowMs, newestMs)) };
}

export class StreamProgress {
  readonly rules: PullStream;
  readonly key: StreamKey;
  /** Starts at the stored value; add() advances it. */
  completeThroughMs: number | undefined;
  /** End of the last window of this run. */
  readThroughMs: number | undefined;
  widthMs: number;
  failure: StreamFailure = NO_FAILURE;
  #windows = 0;
  #counts = NO_COUNTS;

  constructor(rules: PullStream, key: StreamKey, completeThroughMs?: number) {
    this.rules = rules;
    this.widthMs = rules.windowMs;
    this.key = key;
    this.completeThroughMs = completeThroughMs;
  }

  /** The next window; undefined if the stream is up to date. */
  next(
    { sinceMs, startMs }: Pick<PullOptions, 'sinceMs' | 'startMs'>,
    nowMs: number,
  ): PullWindow | undefined {
    const { rules, widthMs } = this;
    const atMs = this.readThroughMs ?? (sinceMs === undefined ? this.completeThroughMs : undefined);
    return nextWindow(rules, atMs, { startMs: sinceMs ?? startMs, nowMs, widthMs });
  }

  /** Halves the following windows, because this one has too many sales. Returns false if a narrower one would not advance. */
  halve({ fromMs, toMs }: PullWindow): boolean {
    this.widthMs = (toMs - fromMs) / 2;
    return this.widthMs > this.rules.overlapMs;
  }

  add({ toMs }: PullWindow, counts: PullCounts): void {
    this.readThroughMs = toMs;
    this.completeThroughMs = Math.max(toMs, this.completeThroughMs ?? 0);
    this.#windows++;
    this.#counts = addCounts(this.#counts, counts);
  }

  get report(): StreamReport {
    return {
      source: this.key.source,
      stream: this.key.stream,
      completeThroughMs: this.completeThroughMs ?? null,
      windows: this.#windows,
      counts: this.#counts,
      ...this.failure,
    };
  }
}
