// All tokens in memory. Requests are authenticated without the database, so known tokens keep working during an outage. The
// directory also records when each token was last used; flushUsed() stores these times.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import { type AccessToken, digestToken, isLive, type TokenStore } from '../../domain/access-token.ts';
import type { Clock } from '../../domain/clock.ts';
import { Batches } from '../../domain/promises.ts';
import type { Revisions } from '../../domain/stores.ts';

export class TokenDirectory {
  /** Revision held in memory; undefined until the first refresh. */
  revision: number | undefined;
  readonly #store: TokenStore;
  readonly #readRevisions: () => Promise<Revisions>;
  readonly #clock: Clock;
  #byDigest = new Map<string, AccessToken>();
  /** One query serves all requests that waited for it, so unknown tokens cannot flood the database. */
  readonly #lookUps = new Batches(async (texts: string[]) => {
    const { tokens } = await this.#readRevisions();
    if (tokens !== this.revision) await this.refresh();
    return texts.map((text) => this.findKnown(text));
  });
  /** Number of refreshes started, and the number of the latest one applied. */
  #started = 0;
  #applied = 0;
  #used = new Map<Uuid, number>();

  constructor(store: TokenStore, readRevisions: () => Promise<Revisions>, clock: Clock) {
    this.#store = store;
    this.#readRevisions = readRevisions;
    this.#clock = clock;
  }

  /** If two refreshes overlap, the one that started later wins, even if it finishes first. */
  async refresh(): Promise<void> {
    const number = ++this.#started;
    const { revision, tokens } = await this.#store.list();
    if (number < this.#applied) return;
    this.#applied = number;
    this.#byDigest = new Map(tokens.map((token) => [token.digest, token]));
    this.revision = revision;
  }

  /** Finds a live token in memory. */
  findKnown(text: string): AccessToken | undefined {
    const token = this.#byDigest.get(digestToken(text));
    if (token === undefined) return undefined;
    const nowMs = this.#clock();
    if (!isLive(token, nowMs)) return undefined;
    this.#used.set(token.id, nowMs);
    return token;
  }

  /** Reloads the tokens first if they have changed, so new tokens work as soon as they are issued. */
  findNew(text: string): Promise<AccessToken | undefined> {
    return this.#lookUps.add(text);
  }

  /** Stores when tokens were last used. If the write fails, the next call retries. */
  async flushUsed(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = this.#used;
    this.#used = new Map();
    try {
      await this.#store.touch(used);
    } catch (error) {
      this.#used = new Map([...used, ...this.#used]);
      throw error;
    }
  }
}
