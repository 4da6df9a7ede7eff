// Progress of one stream in this run.

import type { PullStream, PullWindow } from '@offerbook/feeds/pull/sale-pull.ts';
import { addCounts, NO_COUNTS, type PullCounts, type StreamKey } from '../domain/pull.ts';
import { NO_FAILURE, type PullOptions, type StreamFailure, type StreamReport } from './source-run.ts';
import { nextWindow } from './windows.ts';

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

  constructor(rules: PullStream, key: StreamKey) {
    this.rules = rules;
    this.widthMs = rules.windowMs;
    this.key = key;
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
