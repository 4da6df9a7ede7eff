// All tokens in memory. Requests are authenticated without the database, so known tokens keep working during an outage. The
// directory also records when each token was last used; flushUsed() stores these times.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import { type AccessToken, digestToken, isLive, type TokenStore } from '../../domain/access-token.ts';
import type { Clock } from '../../domain/clock.ts';
import { inBatches } from '../../domain/promises.ts';
import type { Revisions } from '../../domain/stores.ts';

/** Maximum number of tokens whose text is kept in memory. */
const SEEN_MAX = 1_000;

export type TokenDirectory = ReturnType<typeof tokenDirectory>;

export function tokenDirectory(
  store: Pick<TokenStore, 'list' | 'touch'>,
  readRevisions: () => Promise<Pick<Revisions, 'tokens'>>,
  clock: Clock,
) {
  let revision: number | undefined;
  let byDigest = new Map<string, AccessToken>();
  /** Live tokens by their text, because a digest would take 5 % of the time of a cached page. Emptied by every refresh. */
  const seen = new Map<string, AccessToken>();
  /** Number of refreshes started, and the number of the latest one applied. */
  let started = 0;
  let applied = 0;
  let used = new Map<Uuid, number>();

  /** If two refreshes overlap, the one that started later wins, even if it finishes first. */
  async function refresh(): Promise<void> {
    const number = ++started;
    const listed = await store.list();
    if (number < applied) return;
    applied = number;
    byDigest = new Map(listed.tokens.map((token) => [token.digest, token]));
    seen.clear();
    revision = listed.revision;
  }

  /** Finds a live token in memory. */
  function findKnown(text: string): AccessToken | undefined {
    const token = seen.get(text) ?? byDigest.get(digestToken(text));
    if (token === undefined) return undefined;
    const nowMs = clock();
    if (!isLive(token, nowMs)) return undefined;
    if (seen.size < SEEN_MAX) seen.set(text, token);
    used.set(token.id, nowMs);
    return token;
  }

  /** One query serves all requests that waited for it, so unknown tokens cannot flood the database. */
  const lookUps = inBatches(async (texts: string[]) => {
    const { tokens } = await readRevisions();
    if (tokens !== revision) await refresh();
    return texts.map(findKnown);
  });

  return {
    /** Revision held in memory; undefined until the first refresh. */
    get revision() {
      return revision;
    },
    refresh,
    findKnown,
    /** Reloads the tokens first if they have changed, so new tokens work as soon as they are issued. */
    findNew: (text: string): Promise<AccessToken | undefined> => lookUps.add(text),
    /** Stores when tokens were last used. If the write fails, the next call retries. */
    async flushUsed(): Promise<void> {
      if (used.size === 0) return;
      const stored = used;
      used = new Map();
      try {
        await store.touch(stored);
      } catch (error) {
        used = new Map([...stored, ...used]);
        throw error;
      }
    },
  };
}
