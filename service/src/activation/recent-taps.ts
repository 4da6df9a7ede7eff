// Remembers the clicks of the last seconds, so that a second tap on a link is the same click. Taps that meet another
// process are told apart by the database; those that meet the same one must not get there twice.

import { type ClickId, TAP_MS } from '../domain/click.ts';

interface Entry {
  readonly atMs: number;
  readonly recording: Promise<ClickId>;
}

export class RecentTaps {
  /** Two halves: the older one is dropped when it can hold nothing recent any more. */
  #newer = new Map<string, Entry>();
  #older = new Map<string, Entry>();
  #turnedAtMs = Number.NEGATIVE_INFINITY;

  find(key: string, nowMs: number): Promise<ClickId> | undefined {
    const entry = this.#newer.get(key) ?? this.#older.get(key);
    // Either way: a clock may be set back a little, and one that was far ahead makes nothing recent for long.
    return entry && Math.abs(nowMs - entry.atMs) < TAP_MS ? entry.recording : undefined;
  }

  /** What could not be recorded is not remembered. */
  add(key: string, nowMs: number, recording: Promise<ClickId>): void {
    if (Math.abs(nowMs - this.#turnedAtMs) >= TAP_MS) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#turnedAtMs = nowMs;
    }
    this.#newer.set(key, { atMs: nowMs, recording });
    recording.catch(() => {
      for (const half of [this.#newer, this.#older])
        if (half.get(key)?.recording === recording) half.delete(key);
    });
  }
}
