// Polls the sandbox's transactions from where the last response ended. The server holds the private token and polls the API
// on behalf of this page.

import type { Transaction } from '@offerbook/client';

const INTERVAL_MS = 2_000;
/** Older changes are dropped. */
const SHOWN_MAX = 50;

export interface Change {
  readonly transaction: Transaction;
  /** Its status when this page last saw it; undefined the first time. */
  readonly before: Transaction['status'] | undefined;
}

interface FeedPage {
  readonly data: readonly Transaction[];
  readonly completeThrough: string;
}

export class Feed {
  readonly #path: string;
  readonly #onChange: () => void;
  readonly #statuses = new Map<string, Transaction['status']>();
  #changes: readonly Change[] = [];
  #completeThrough: string | undefined;
  #problem: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOn = false;

  constructor(path: string, onChange: () => void) {
    this.#path = path;
    this.#onChange = onChange;
  }

  /** Newest first. */
  get changes(): readonly Change[] {
    return this.#changes;
  }

  get completeThrough(): string | undefined {
    return this.#completeThrough;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  start(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    void this.#poll();
  }

  stop(): void {
    this.#isOn = false;
    clearTimeout(this.#timer);
  }

  async #poll(): Promise<void> {
    try {
      const since = this.#completeThrough === undefined ? '' : `?since=${this.#completeThrough}`;
      const response = await fetch(this.#path + since);
      if (!response.ok) throw new Error(`status ${response.status}`);
      this.#take((await response.json()) as FeedPage);
      this.#problem = undefined;
    } catch {
      this.#problem = 'No response from the sandbox. This page retries automatically.';
    }
    this.#onChange();
    if (this.#isOn) this.#timer = setTimeout(() => void this.#poll(), INTERVAL_MS);
  }

  #take({ data, completeThrough }: FeedPage): void {
    const changes = data.map((transaction) => ({
      transaction,
      before: this.#statuses.get(transaction.id),
    }));
    for (const { id, status } of data) this.#statuses.set(id, status);
    this.#changes = [...changes, ...this.#changes].slice(0, SHOWN_MAX);
    this.#completeThrough = completeThrough;
  }
}
