// Invalid tokens, and what an attacker can learn from how they are rejected.

import { describe, expect, test } from 'bun:test';
import { DATABASES } from '../support/databases.ts';
import { likelihoodOfGreater } from './likelihood.ts';
import { TEST_SEED } from './seed.ts';
import { attackWithTokens, BAD_TOKEN_KINDS, type BadTokenKind, compareBadTokens } from './token-attack.ts';

/**
 * Maximum distance of the likelihood from 0.5. By chance, it deviates by 0.02. Under a burst of other work it deviates more,
 * but not in every round for the same kind and in the same direction. A look-up that only some kinds cause shifts it by 0.3.
 */
const TELLABLE = 0.06;
/** Each round has a different order of tokens, so that pauses of the process do not always affect the same kind. */
const ROUNDS_MAX = 6;

describe.each(DATABASES)('on $name', ({ create }) => {
  test('every mutated token is rejected with the same message', async () => {
    const { tokens, accepted, answers } = await attackWithTokens(await create(), 1_000, TEST_SEED);
    expect({ tokens, accepted, answers: answers.size }).toEqual({ tokens: 1_000, accepted: 0, answers: 2 });
  });

  test('unknown, revoked, expired, mistyped and malformed tokens cannot be distinguished, not even by timing', async () => {
    let slower: readonly BadTokenKind[] = BAD_TOKEN_KINDS;
    let faster: readonly BadTokenKind[] = BAD_TOKEN_KINDS;
    for (let round = 0; round < ROUNDS_MAX && slower.length + faster.length > 0; round++) {
      const { answers, durationsMs } = await compareBadTokens(await create(), 400, TEST_SEED + round);
      expect([...answers]).toEqual([expect.stringMatching(/^401 .*"code":"invalid_token"/)]);
      const likelihood = (kind: BadTokenKind) => likelihoodOfGreater(durationsMs[kind], durationsMs.unknown);
      slower = slower.filter((kind) => likelihood(kind) > 0.5 + TELLABLE);
      faster = faster.filter((kind) => likelihood(kind) < 0.5 - TELLABLE);
    }
    expect({ slower, faster }).toEqual({ slower: [], faster: [] });
  });
});
