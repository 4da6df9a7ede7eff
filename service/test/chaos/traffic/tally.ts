// Counts the results of many requests: responses by status, failures without a response, and durations.

import type { Run } from '../report/run.ts';

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** Durations are counted in buckets of 2 %, starting at one microsecond, so that memory does not grow with the run. */
const STEP = Math.log(1.02);

export class Tally {
  readonly #steps = new Uint32Array(1_500);
  readonly statuses: Record<number, number> = {};
  readonly failures: Record<string, number> = {};
  answered = 0;
  failed = 0;
  /** Requests that were due while all connections were in use. */
  unsent = 0;

  answer(status: number, durationMs: number): void {
    this.answered += 1;
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    const step = Math.min(1_499, Math.max(0, Math.round(Math.log(durationMs * 1_000) / STEP)));
    this.#steps[step] = (this.#steps[step] ?? 0) + 1;
  }

  fail(reason: string): void {
    this.failed += 1;
    this.failures[reason] = (this.failures[reason] ?? 0) + 1;
  }

  count(status: number): number {
    return this.statuses[status] ?? 0;
  }

  /** A percentile of the durations. `share` is a fraction, such as 0.99. */
  percentileMs(share: number): number {
    let rest = Math.ceil(this.answered * share);
    for (const [step, count] of this.#steps.entries()) {
      rest -= count;
      if (rest <= 0 && count > 0) return Math.exp(step * STEP) / 1_000;
    }
    return 0;
  }
}

/** Every request got 200. With --busy, a page of transactions may also be late and get 503. */
export function requireAnswered(
  run: Run,
  what: string,
  { statuses, failures }: Tally,
  kind: 'catalogue' | 'transactions' = 'transactions',
): void {
  const { 200: served = 0, 503: late = 0, ...others } = statuses;
  const mayBeLate = run.isBusy && kind === 'transactions';
  const isAllowed = Object.keys({ ...others, ...failures }).length === 0 && (late === 0 || mayBeLate);
  run.require(`${what}: every request succeeds`, isAllowed && served > 0, { statuses, failures });
}
