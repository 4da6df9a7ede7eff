// Counts the requests of each rate in a sliding window. Rejected requests do not count.

import type { Rate } from './answer.ts';

export class RequestLimit {
  readonly #times = new Map<string, number[]>();

  count(rate: Rate, nowMs: number): { isAllowed: boolean; left: number; waitMs: number } {
    const { name, requests, perMs } = rate;
    const recent = (this.#times.get(name) ?? []).filter((atMs) => atMs > nowMs - perMs);
    const isAllowed = recent.length < requests;
    if (isAllowed) recent.push(nowMs);
    this.#times.set(name, recent);
    return { isAllowed, left: requests - recent.length, waitMs: (recent[0] ?? nowMs) + perMs - nowMs };
  }
}
