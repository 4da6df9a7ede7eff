// Sends mutated tokens to a node that accepts the original tokens.

import fc from 'fast-check';
import { TestNode } from '../../support/test-node.ts';
import type { Run } from '../report/run.ts';
import { extentOf } from './extent.ts';
import { KeptConnection, printOutcome } from './kept-connection.ts';
import { anyMutatedToken } from './mutated-token.ts';

const SETTINGS = { rateLimitFailedAuth: 0, rateLimitPublic: 0, rateLimitPrivate: 0 };

/** Sends mutated tokens to both kinds of operation. Throws if one of them is accepted. */
export async function attackWithTokens(run: Run, limitMs: number): Promise<void> {
  await using node = await TestNode.start({ databaseUrl: await run.database.create(), settings: SETTINGS });
  const good = [await node.token('public'), await node.token('private')];
  using connection = new KeptConnection(node.url);
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
    extentOf(run, 'tokens', limitMs),
  );
  run.require('each of two operations must reject all tokens alike', answers.size === 2, [...answers]);
}

function requestWith(token: string, list: string): Buffer {
  const lines = ['Host: x', 'Request-Id: same', `Authorization: Bearer ${token}`];
  return Buffer.from(`GET /v1/${list}/ HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
