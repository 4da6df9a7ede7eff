// Sends tokens that an attacker could derive from valid ones to a node: changed, truncated, repeated, re-encoded, or with a correct
// checksum, so that only the look-up rejects them.

import fc from 'fast-check';
import { BASE62, printBase62 } from '../../../src/domain/base62.ts';
import { TestNode } from '../../support/test-node.ts';
import type { Run } from '../report/run.ts';
import type { Extent } from './file-outcomes.ts';
import { keptConnection, printOutcome } from './kept-connection.ts';

const SETTINGS = { rateLimitFailedAuth: 0, rateLimitPublic: 0, rateLimitPrivate: 0 };

/** Sends mutated tokens to both kinds of operation. Throws if one of them is accepted. */
export async function attackWithTokens(run: Run, extent: Extent): Promise<void> {
  await using node = await TestNode.start({ databaseUrl: await run.database.create(), settings: SETTINGS });
  const good = [await node.token('public'), await node.token('private')];
  using connection = keptConnection(node.url);
  /** The distinct responses, without their Date. */
  const answers = new Set<string>();
  await fc.assert(
    fc.asyncProperty(anyMutatedToken(good), fc.boolean(), async (text, isPrivate) => {
      // An empty string counts as a missing token, which has its own error.
      fc.pre(text.trim() !== '');
      const outcome = await connection.send(requestWith(text, isPrivate ? 'transactions' : 'coupons'), 'GET');
      run.count('mutated tokens, all rejected');
      const answer = printOutcome(outcome);
      if (outcome.kind !== 'answer' || outcome.answer.status !== 401)
        throw new Error(`${text} got ${answer}`);
      // A string that cannot be a token may get a hint instead.
      if (/^\w*$/.test(text) || !answer.includes('This is a placeholder.')) answers.add(answer);
    }),
    extent,
  );
  run.require('each of two operations must reject all tokens alike', answers.size === 2, [...answers]);
}

function requestWith(token: string, list: string): Buffer {
  const lines = ['Host: x', 'Request-Id: same', `Authorization: Bearer ${token}`];
  return Buffer.from(`GET /v1/${list}/ HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

const CHECKSUM_LENGTH = 6;

/** A character that is allowed in a header, except spaces. */
const anyCharacter = fc
  .integer({ min: 0x21, max: 0xff })
  .filter((code) => code < 0x7f || code > 0xa0)
  .map((code) => String.fromCharCode(code));

type Mutation = (token: string) => string;

/** Replaces up to two characters, or the rest, by up to one; sometimes inside the token only, with a correct checksum. */
const anyEdit: fc.Arbitrary<Mutation> = fc
  .record({
    at: fc.nat(42),
    cut: fc.constantFrom(0, 1, 2, 100),
    paste: fc.oneof(anyCharacter, fc.constant('')),
    isChecked: fc.boolean(),
  })
  .map(({ at, cut, paste, isChecked }) => (token) => {
    if (!isChecked) return token.slice(0, at) + paste + token.slice(at + cut);
    // Not in the prefix or the checksum.
    const place = 7 + (at % 30);
    const base62 = BASE62[paste.charCodeAt(0) % BASE62.length] ?? '0';
    return withChecksum(token.slice(0, place) + base62 + token.slice(place + 1));
  });

const anyMutation: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: 10, arbitrary: anyEdit },
  fc.constantFrom<Mutation>(
    (token) => withChecksum(token.replace(/pub|prv/, (kind) => (kind === 'pub' ? 'prv' : 'pub'))),
    (token) => token.toUpperCase(),
    (token) => token.toLowerCase(),
    (token) => token + token,
    (token) => `${token},${token}`,
    (token) => `${token}, Bearer ${token}`,
    (token) => `"${token}"`,
    (token) => `Bearer ${token}`,
    (token) => `${token}%00`,
    (token) => `${token}=`,
    (token) => encodeURIComponent(token).replaceAll('_', '%5F'),
    (token) => Buffer.from(token).toString('base64'),
    (token) => Buffer.from(token).toString('hex'),
    (token) => [...token].reverse().join(''),
    (token) => Bun.CryptoHasher.hash('sha256', token, 'hex'),
    (token) => token.slice('ob_pub_'.length),
    (token) => token.replace(/(.)(.)$/, '$2$1'),
    (token) => token.padEnd(4_000, 'a'),
    (token) => `${token}' OR '1'='1`,
    () => '',
    () => 'null',
    () => '*',
  ),
);

/** A string derived from a valid token, but not equal to one. */
function anyMutatedToken(good: readonly string[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...good), fc.array(anyMutation, { minLength: 1, maxLength: 3 }))
    .map(([token, mutations]) => mutations.reduce((text, mutate) => mutate(text), token))
    .filter((text) => !good.includes(text.trim()));
}

function withChecksum(text: string): string {
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return body + printBase62(Bun.hash.crc32(body), CHECKSUM_LENGTH);
}
