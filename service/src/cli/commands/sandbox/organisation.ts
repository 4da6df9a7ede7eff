// The sandbox's organisation and its tokens, which stay the same across restarts. The tokens are not stored. Each token is
// derived from the digest of the key token, which is the first token in the database and was never printed. The key token's
// label contains the seed of the data, and marks the database as a sandbox's.

import { createHmac } from 'node:crypto';
import { BadInput } from '@offerbook/wire/failures.ts';
import {
  type AccessToken,
  digestToken,
  isLive,
  newTokenText,
  type TokenKind,
} from '../../../domain/access-token.ts';
import type { Organisation } from '../../../domain/organisation.ts';
import type { Stores } from '../../../domain/stores.ts';

const NAME = 'Sandbox';
const LABEL = /^sandbox, seed (\d{1,10})$/;

/**
 * Returns the seed of the data in a database; undefined if the database is empty. Throws if a sandbox did not create the
 * data: the sandbox replaces the catalogue, which must never happen in production.
 */
export async function findSeed(stores: Stores): Promise<number | undefined> {
  const { tokens } = await stores.tokens.list();
  const key = tokens.find(({ orgName, label }) => orgName === NAME && LABEL.test(label));
  if (key !== undefined) return Number(LABEL.exec(key.label)?.[1]);
  const others = (await stores.organisations.list()).filter((org) => org.name !== NAME);
  if (others.length > 0 || (await stores.revisions()).catalogue > 0) {
    throw new BadInput(
      'this database contains data that was not created by a sandbox; choose another file with --database sqlite:PATH',
    );
  }
  return undefined;
}

export async function openOrganisation(stores: Stores): Promise<Organisation> {
  const known = (await stores.organisations.list()).find(({ name }) => name === NAME);
  const org = known ?? (await stores.organisations.create(NAME));
  if (org === undefined)
    throw new Error("another process has just created the sandbox's organisation; start the sandbox again");
  return org;
}

/**
 * Returns one token of each kind, the same at every start. Replaces revoked tokens. Anyone who can read the database can
 * derive these tokens, but they give access only to its synthetic data.
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

/** Adds the key token. It grants no access: it has already expired, and only its digest is kept. */
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
