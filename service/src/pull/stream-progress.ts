// Progress of one stream in this run.

import type { PullStream, PullWindow } from '@offerbook/feeds/pull/sale-pull.ts';
import { addCounts, NO_COUNTS, type PullCounts, type StreamKey } from '../domain/pull.ts';
import type { StreamReport } from './source-run.ts';

export class StreamProgress {
  readonly rules: PullStream;
  readonly key: StreamKey;
  /** Starts at the stored value; add() advances it. */
  completeThroughMs: number | undefined;
  error: string | null = null;
  #windows = 0;
  #counts = NO_COUNTS;

  constructor(rules: PullStream, key: StreamKey) {
    this.rules = rules;
    this.key = key;
  }

  add({ toMs }: PullWindow, counts: PullCounts): void {
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
      error: this.error,
    };
  }
}
