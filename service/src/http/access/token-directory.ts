// All tokens, in memory: a request is authenticated without the database, so known tokens go on working
// while it is away. Also remembers when each token was last used, and writes that down now and then.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { TokenStore } from '../../domain/access-token.ts';
import { type AccessToken, digestToken, isLive } from '../../domain/access-token.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Revisions } from '../../domain/stores.ts';

export class TokenDirectory {
  readonly #store: TokenStore;
  readonly #readRevisions: () => Promise<Revisions>;
  readonly #clock: Clock;
  #byDigest = new Map<string, AccessToken>();
  #revision: number | undefined;
  #lookUp: Promise<void> | undefined;
  /** How many refreshes have been begun, and which of them was the last to be taken. */
  #begun = 0;
  #taken = 0;
  #used = new Map<Uuid, number>();

  constructor(store: TokenStore, readRevisions: () => Promise<Revisions>, clock: Clock) {
    this.#store = store;
    this.#readRevisions = readRevisions;
    this.#clock = clock;
  }

  get ready(): boolean {
    return this.#revision !== undefined;
  }

  get revision(): number | undefined {
    return this.#revision;
  }

  /** Of two at once, the one that began later counts, even if the other one is answered after it. */
  async refresh(): Promise<void> {
    const turn = ++this.#begun;
    const { revision, tokens } = await this.#store.list();
    if (turn < this.#taken) return;
    this.#taken = turn;
    this.#byDigest = new Map(tokens.map((token) => [token.digest, token]));
    this.#revision = revision;
  }

  /** A live token with this text, from memory. */
  findKnown(text: string): AccessToken | undefined {
    const token = this.#byDigest.get(digestToken(text));
    if (token === undefined) return undefined;
    const nowMs = this.#clock();
    if (!isLive(token, nowMs)) return undefined;
    this.#used.set(token.id, nowMs);
    return token;
  }

  /** Looks in the database before giving up, so that a token works from the moment it was issued. */
  async findNew(text: string): Promise<AccessToken | undefined> {
    await this.#catchUp();
    return this.findKnown(text);
  }

  /** Writes down when tokens were last used. When that fails, the next call tries again. */
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

  /** One look at the database serves everybody who began to wait before it started: unknown tokens cannot flood it. */
  async #catchUp(): Promise<void> {
    if (this.#lookUp !== undefined) await this.#lookUp.catch(() => {});
    this.#lookUp ??= this.#refreshIfMoved().finally(() => {
      this.#lookUp = undefined;
    });
    await this.#lookUp;
  }

  async #refreshIfMoved(): Promise<void> {
    const { tokens } = await this.#readRevisions();
    if (tokens !== this.#revision) await this.refresh();
  }
}
