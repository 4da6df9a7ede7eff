// Tokens that were never issued, and what an attacker can learn from the way they are refused.

import { describe, expect, test } from 'bun:test';
import { DATABASES } from '../support/databases.ts';
import { likelihoodOfGreater } from './likelihood.ts';
import { TEST_SEED } from './seed.ts';
import { attackWithTokens, BAD_TOKEN_KINDS, compareBadTokens } from './token-attack.ts';

describe.each(DATABASES)('on $name', ({ create }) => {
  test('no mutated token is accepted, and all are refused in the same words', async () => {
    const { tokens, accepted, answers } = await attackWithTokens(await create(), 1_000, TEST_SEED);
    expect({ tokens, accepted, answers: answers.size }).toEqual({ tokens: 1_000, accepted: 0, answers: 2 });
  });

  test('unknown, revoked, expired, mistyped and malformed tokens cannot be told apart, not even by the time', async () => {
    const { answers, durationsMs } = await compareBadTokens(await create(), 400, TEST_SEED);
    expect([...answers]).toEqual([expect.stringMatching(/^401 .*"code":"invalid_token"/)]);
    // By chance alone the likelihood strays by 0.02. A look-up that only some kinds cause moves it beyond 0.2 or 0.8.
    const tellable = BAD_TOKEN_KINDS.map((kind) =>
      likelihoodOfGreater(durationsMs[kind], durationsMs.unknown),
    )
      .map((likelihood) => Math.abs(likelihood - 0.5))
      .filter((distance) => distance > 0.15);
    expect(tellable).toEqual([]);
  });
});
