// The sandbox's own organisation, and its tokens, which are the same from start to start. A token's text is not kept
// anywhere: it is worked out from the digest of a token that nobody has ever seen, the first of the database. Its label
// says from which seed the sandbox made the data, which is how a database is recognised as a sandbox's.

import { createHmac } from 'node:crypto';
import { BadInput } from '@offerbook/wire/failures.ts';
import {
  type AccessToken,
  digestToken,
  isLive,
  newTokenText,
  type TokenKind,
} from '../../../domain/access-token.ts';
import type { Organisation, PublicOrganisation } from '../../../domain/organisation.ts';
import type { Stores } from '../../../domain/stores.ts';

const NAME = 'Sandbox';
const LABEL = /^sandbox, seed (\d{1,10})$/;

/**
 * The seed of the data that a database holds; undefined when it is empty. Throws when it holds anything that
 * no sandbox made: the sandbox replaces the catalogue, which nobody wants in production.
 */
export async function findSeed(stores: Stores): Promise<number | undefined> {
  const { tokens } = await stores.tokens.list();
  const key = tokens.find(({ orgName, label }) => orgName === NAME && LABEL.test(label));
  if (key !== undefined) return Number(LABEL.exec(key.label)?.[1]);
  const others = (await stores.organisations.list()).filter((org) => org.name !== NAME);
  if (others.length > 0 || (await stores.revisions()).catalogue > 0) {
    throw new BadInput(
      'this database holds data that no sandbox made; give the sandbox one of its own with --database sqlite:PATH',
    );
  }
  return undefined;
}

export async function openOrganisation(stores: Stores): Promise<PublicOrganisation> {
  const known = (await stores.organisations.list()).find(({ name }) => name === NAME);
  const org = known ?? (await stores.organisations.create(NAME));
  if (org === undefined)
    throw new Error('the organisation of the sandbox was made by somebody else just now');
  return org;
}

/**
 * One token of each kind, the same ones each time; another one in the place of one that was revoked. Whoever can read
 * the database can work them out, and gets synthetic data that is in the database anyway.
 */
export async function openTokens(
  stores: Stores,
  org: Organisation,
  seed: number,
  nowMs: number,
): Promise<Record<TokenKind, string>> {
  const known = (await stores.tokens.list()).tokens.filter(({ orgId }) => orgId === org.id);
  const key = known.find(({ label }) => LABEL.test(label)) ?? (await addKey(stores, org, seed, nowMs));
  const open = async (kind: TokenKind) => {
    for (let number = 1; ; number++) {
      const text = deriveToken(kind, key, number);
      const digest = digestToken(text);
      const token = known.find((one) => one.digest === digest);
      if (token === undefined)
        await stores.tokens.add({ orgId: org.id, kind, label: 'sandbox', digest, expiresAtMs: null });
      if (token === undefined || isLive(token, nowMs)) return text;
    }
  };
  return { public: await open('public'), private: await open('private') };
}

/** A token that cannot be used: it has expired, and its text is gone. */
function addKey(stores: Stores, org: Organisation, seed: number, nowMs: number): Promise<AccessToken> {
  const digest = digestToken(newTokenText('public'));
  const label = `sandbox, seed ${seed}`;
  return stores.tokens.add({ orgId: org.id, kind: 'public', label, digest, expiresAtMs: nowMs });
}

function deriveToken(kind: TokenKind, key: AccessToken, number: number): string {
  let block = 0;
  return newTokenText(kind, () =>
    createHmac('sha256', key.digest).update(`${kind} ${number} ${block++}`).digest(),
  );
}
