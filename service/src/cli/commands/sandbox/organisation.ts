// The sandbox's own organisation, and its tokens. A token's text is not kept anywhere, so each start issues
// new ones and ends those of the start before. Their label says that the sandbox made them and from which
// seed: that is how a database is recognised as a sandbox's.

import { digestToken, isLive, newTokenText, type TokenKind } from '../../../domain/access-token.ts';
import { BadInput } from '../../../domain/failures.ts';
import type { Organisation, Stores } from '../../../domain/stores.ts';

const NAME = 'Sandbox';
const LABEL = /^sandbox, seed (\d{1,10})$/;

/**
 * The seed of the data that a database holds; undefined when it is empty. Throws when it holds anything that
 * no sandbox made: the sandbox replaces the catalogue, which nobody wants in production.
 */
export async function findSeed(stores: Stores): Promise<number | undefined> {
  const { tokens } = await stores.tokens.list();
  const seeds = tokens.flatMap((token) => {
    const seed = token.orgName === NAME ? LABEL.exec(token.label)?.[1] : undefined;
    return seed === undefined ? [] : [Number(seed)];
  });
  const last = seeds.at(-1);
  if (last !== undefined) return last;
  const others = (await stores.organisations.list()).filter((org) => org.name !== NAME);
  if (others.length > 0 || (await stores.revisions()).catalogue > 0) {
    throw new BadInput(
      'this database holds data that no sandbox made; give the sandbox one of its own with --database sqlite:PATH',
    );
  }
  return undefined;
}

export async function openOrganisation(stores: Stores): Promise<Organisation> {
  const org = (await stores.organisations.find(NAME)) ?? (await stores.organisations.create(NAME));
  if (org === undefined)
    throw new Error('the organisation of the sandbox was made by somebody else just now');
  return org;
}

/** One token of each kind. Tokens of this organisation that somebody else issued stay as they are. */
export async function renewTokens(
  stores: Stores,
  org: Organisation,
  seed: number,
  nowMs: number,
): Promise<Record<TokenKind, string>> {
  const { tokens } = await stores.tokens.list();
  for (const token of tokens) {
    if (token.orgId === org.id && LABEL.test(token.label) && isLive(token, nowMs)) {
      await stores.tokens.endAt(token.id, nowMs);
    }
  }
  const issue = async (kind: TokenKind) => {
    const text = newTokenText(kind);
    const label = `sandbox, seed ${seed}`;
    await stores.tokens.add({ orgId: org.id, kind, label, digest: digestToken(text), expiresAtMs: null });
    return text;
  };
  return { public: await issue('public'), private: await issue('private') };
}
