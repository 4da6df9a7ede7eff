// Finds clicks in the database, one statement at a time. Ids requested while a statement is running are looked up together in
// the next statement. A flood of requests therefore uses a single connection, and clicks can still be recorded.

import type { Click, ClickId, ClickStore } from '../domain/click.ts';

const BATCH_MAX = 500;

export class ClickLookup {
  readonly #store: ClickStore;
  readonly #waiting = new Map<ClickId, PromiseWithResolvers<Click | undefined>>();
  #isRunning = false;

  constructor(store: ClickStore) {
    this.#store = store;
  }

  find(id: ClickId): Promise<Click | undefined> {
    const found = this.#waiting.get(id) ?? Promise.withResolvers();
    this.#waiting.set(id, found);
    if (!this.#isRunning) void this.#run();
    return found.promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting.entries().take(BATCH_MAX)];
      for (const [id] of batch) this.#waiting.delete(id);
      try {
        const clicks = await this.#store.find(batch.map(([id]) => id));
        for (const [id, { resolve }] of batch) resolve(clicks.get(id));
      } catch (error) {
        for (const [, { reject }] of batch) reject(error);
      }
    }
    this.#isRunning = false;
  }
}
