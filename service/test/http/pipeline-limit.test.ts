import { expect, test } from 'bun:test';
import {
  HOLD_UP_MAX_MS,
  PipelineLimit,
  REQUESTS_IN_A_TURN_MAX,
} from '../../src/http/access/pipeline-limit.ts';

const ONE = { address: '203.0.113.1', port: 1_000 };
const OTHER = { address: '203.0.113.1', port: 1_001 };
const NEIGHBOUR = { address: '203.0.113.2', port: 1_000 };

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The requests after which a connection is to be closed, of so many in one turn. */
function reachedIn(limit: PipelineLimit, times: number, nowMs = () => 0): number[] {
  return Array.from({ length: times }, (_, index) => index).filter(() => limit.isReached(ONE, nowMs()));
}

test('the last request that one connection may have in a turn is told', () => {
  const reached = reachedIn(new PipelineLimit(), REQUESTS_IN_A_TURN_MAX + 2);
  expect(reached).toEqual([-1, 0, 1].map((index) => REQUESTS_IN_A_TURN_MAX + index));
});

test('every turn begins anew', async () => {
  const limit = new PipelineLimit();
  for (let turn = 0; turn < 10; turn++) {
    // The first request of a turn counts as two: it may be the second.
    expect(reachedIn(limit, REQUESTS_IN_A_TURN_MAX - 2)).toEqual([]);
    await nextTurn();
  }
});

test('requests that take long are fewer', () => {
  let nowMs = 0;
  const slow = () => {
    nowMs += HOLD_UP_MAX_MS / 5;
    return nowMs;
  };
  const [first] = reachedIn(new PipelineLimit(), REQUESTS_IN_A_TURN_MAX, slow);
  expect(first).toBeWithin(5, 8);
});

test('time that passes between turns does not count', async () => {
  const limit = new PipelineLimit();
  for (let turn = 1; turn < 10; turn++) {
    expect(reachedIn(limit, 10, () => turn * 1_000)).toEqual([]);
    await nextTurn();
  }
});

test.each([
  ['another port', OTHER],
  ['another address', NEIGHBOUR],
])('what comes from %s does not count', (_, peer) => {
  const limit = new PipelineLimit();
  const reached = Array.from({ length: 1_000 }, () => limit.isReached(ONE, 0) || limit.isReached(peer, 0));
  expect(reached).not.toContain(true);
});
