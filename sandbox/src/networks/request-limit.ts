// Counts requests in a sliding window, for each rate by its name. Refused requests do not count.

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
