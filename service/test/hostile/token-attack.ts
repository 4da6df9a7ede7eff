// Sends mutated tokens to a node that accepts the original tokens, and measures whether the response time reveals why a token
// is invalid.

import fc from 'fast-check';
import { newTokenText } from '../../src/domain/access-token.ts';
import { TestNode } from '../support/test-node.ts';
import { anyMutatedToken, withWrongChecksum } from './mutated-token.ts';
import { type Outcome, RawConnection } from './raw-connection.ts';

const SETTINGS = { rateLimitFailedAuth: 0, rateLimitPublic: 0, rateLimitPrivate: 0 };

export interface TokenAttackReport {
  tokens: number;
  accepted: number;
  /** The distinct responses, without their Date; there should be one per operation. */
  readonly answers: ReadonlySet<string>;
}

/** Sends mutated tokens to both kinds of operation. */
export async function attackWithTokens(
  databaseUrl: string,
  tokens: number,
  seed: number,
): Promise<TokenAttackReport> {
  await using node = await TestNode.start({ databaseUrl, settings: SETTINGS });
  const good = [await node.token('public'), await node.token('private')];
  using connection = new RawConnection(node.url);
  const report = { tokens: 0, accepted: 0, answers: new Set<string>() };
  await fc.assert(
    fc.asyncProperty(anyMutatedToken(good), fc.boolean(), async (text, isPrivate) => {
      // An empty string counts as a missing token, which has its own error.
      fc.pre(text.trim() !== '');
      const outcome = await connection.send(requestWith(text, isPrivate ? 'transactions' : 'coupons'), 'GET');
      report.tokens++;
      report.answers.add(printOutcome(outcome));
      if (outcome.kind !== 'answer' || outcome.answer.status !== 401) {
        report.accepted++;
        throw new Error(`${text} got ${printOutcome(outcome)}`);
      }
    }),
    { numRuns: tokens, seed },
  );
  return report;
}

export const BAD_TOKEN_KINDS = ['unknown', 'revoked', 'expired', 'wrong checksum', 'malformed'] as const;
export type BadTokenKind = (typeof BAD_TOKEN_KINDS)[number];

export interface BadTokenReport {
  /** The distinct responses, without their Date. */
  readonly answers: ReadonlySet<string>;
  /** Response times, by kind of token. */
  readonly durationsMs: Readonly<Record<BadTokenKind, readonly number[]>>;
}

/** Sends invalid tokens of all kinds in random order, so that other work on the machine affects all kinds alike. */
export async function compareBadTokens(
  databaseUrl: string,
  rounds: number,
  seed: number,
): Promise<BadTokenReport> {
  await using node = await TestNode.start({ databaseUrl, settings: SETTINGS });
  const texts = await badTokens(node);
  using connection = new RawConnection(node.url);
  const answers = new Set<string>();
  const durationsMs: Record<BadTokenKind, number[]> = {
    unknown: [],
    revoked: [],
    expired: [],
    'wrong checksum': [],
    malformed: [],
  };
  const anyOrder = fc.shuffledSubarray([...BAD_TOKEN_KINDS], { minLength: BAD_TOKEN_KINDS.length });
  for (const kind of fc.sample(anyOrder, { numRuns: rounds, seed }).flat()) {
    const bytes = requestWith(texts[kind], 'coupons');
    const startedMs = performance.now();
    const outcome = await connection.send(bytes, 'GET');
    durationsMs[kind].push(performance.now() - startedMs);
    answers.add(printOutcome(outcome));
  }
  return { answers, durationsMs };
}

async function badTokens(node: TestNode): Promise<Record<BadTokenKind, string>> {
  const revoked = await node.token('public');
  const [stored] = (await node.stores.tokens.list()).tokens;
  if (stored === undefined) throw new Error('the token was not stored');
  await node.stores.tokens.revoke(stored.id);
  const live = await node.token('public');
  return {
    unknown: newTokenText('public'),
    revoked,
    expired: await node.token('public', 'acme', Date.now() - 1),
    'wrong checksum': withWrongChecksum(live),
    malformed: live.replace('ob_', 'xx_'),
  };
}

function requestWith(token: string, list: string): Buffer {
  const lines = [
    `GET /v1/${list}/ HTTP/1.1`,
    'Host: x',
    'Request-Id: same',
    `Authorization: Bearer ${token}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function printOutcome(outcome: Outcome): string {
  if (outcome.kind !== 'answer') return JSON.stringify(outcome);
  const { status, headers, body } = outcome.answer;
  const shown = [...headers].filter(([name]) => name !== 'date' && !name.startsWith('access-control'));
  return `${status} ${JSON.stringify(shown)} ${body}`;
}
