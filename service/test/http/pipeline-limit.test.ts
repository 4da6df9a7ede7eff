import { expect, test } from 'bun:test';
import {
  BLOCKED_MAX_MS,
  FLOODER_MS,
  FLOODERS_MAX,
  type Peer,
  PipelineLimit,
  REQUESTS_IN_A_TURN_MAX,
  REQUESTS_OF_FLOODER_MAX,
} from '../../src/http/access/pipeline-limit.ts';

const ONE = { address: '203.0.113.1', port: 1_000 };
const OTHER = { address: '203.0.113.1', port: 1_001 };
const NEIGHBOUR = { address: '203.0.113.2', port: 1_000 };

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Sends `times` requests in one turn; returns the indexes of those after which the connection must be closed. */
function reachedIn(limit: PipelineLimit, times: number, nowMs = () => 0): number[] {
  return Array.from({ length: times }, (_, index) => index).filter(() => limit.isReached(ONE, nowMs()));
}

test('the limit is reached with the last request that a connection is allowed to send in one event-loop turn', () => {
  const reached = reachedIn(new PipelineLimit(), REQUESTS_IN_A_TURN_MAX + 2);
  expect(reached).toEqual([-1, 0, 1].map((index) => REQUESTS_IN_A_TURN_MAX + index));
});

test('every event-loop turn starts a new count', async () => {
  const limit = new PipelineLimit();
  for (let turn = 0; turn < 10; turn++) {
    // The first counted request may be the second of its turn, so it counts as two.
    expect(reachedIn(limit, REQUESTS_IN_A_TURN_MAX - 2)).toEqual([]);
    await nextTurn();
  }
});

test('slow requests reach the limit earlier', () => {
  let nowMs = 0;
  const slow = () => {
    nowMs += BLOCKED_MAX_MS / 5;
    return nowMs;
  };
  const [first] = reachedIn(new PipelineLimit(), REQUESTS_IN_A_TURN_MAX, slow);
  expect(first).toBeWithin(5, 8);
});

test('time between event-loop turns does not count', async () => {
  const limit = new PipelineLimit();
  for (let turn = 1; turn < 10; turn++) {
    expect(reachedIn(limit, 10, () => turn * 1_000)).toEqual([]);
    await nextTurn();
  }
});

/** Number of requests that a new connection may send in a turn. */
async function turnOf(limit: PipelineLimit, peer: Peer, nowMs: number): Promise<number> {
  await nextTurn();
  for (let count = 1; ; count++) if (limit.isReached(peer, nowMs)) return count;
}

test('an address that reached the limit gets a lower limit on every connection until it has been quiet for a while', async () => {
  const limit = new PipelineLimit();
  expect(await turnOf(limit, ONE, 0)).toBe(REQUESTS_IN_A_TURN_MAX);
  expect(await turnOf(limit, OTHER, 1)).toBe(REQUESTS_OF_FLOODER_MAX);
  expect(await turnOf(limit, ONE, FLOODER_MS)).toBe(REQUESTS_OF_FLOODER_MAX);
  expect(await turnOf(limit, OTHER, 2 * FLOODER_MS)).toBe(REQUESTS_IN_A_TURN_MAX);
});

const flooder = (number: number) => ({ address: `203.0.${number >> 8}.${number & 255}`, port: 1_000 });

test('up to FLOODERS_MAX flooding addresses are remembered, and then the least recent address is evicted', async () => {
  const limit = new PipelineLimit();
  for (let number = 0; number < FLOODERS_MAX; number++) await turnOf(limit, flooder(number), 0);
  expect(await turnOf(limit, flooder(0), 1)).toBe(REQUESTS_OF_FLOODER_MAX);
  expect(await turnOf(limit, flooder(FLOODERS_MAX), 1)).toBe(REQUESTS_IN_A_TURN_MAX);
  expect(await turnOf(limit, flooder(0), 1)).toBe(REQUESTS_OF_FLOODER_MAX);
  expect(await turnOf(limit, flooder(1), 1)).toBe(REQUESTS_IN_A_TURN_MAX);
  expect(await turnOf(limit, flooder(FLOODERS_MAX), 1)).toBe(REQUESTS_OF_FLOODER_MAX);
});

test('addresses in one IPv6 network count as one flooder', async () => {
  const limit = new PipelineLimit();
  await turnOf(limit, { address: '2001:db8::1', port: 1 }, 0);
  expect(await turnOf(limit, { address: '2001:db8::2', port: 1 }, 1)).toBe(REQUESTS_OF_FLOODER_MAX);
  expect(await turnOf(limit, { address: '2001:db8:0:1::2', port: 1 }, 1)).toBe(REQUESTS_IN_A_TURN_MAX);
});

test('an address that reached the limit does not affect other addresses', async () => {
  const limit = new PipelineLimit();
  await turnOf(limit, ONE, 0);
  expect(await turnOf(limit, NEIGHBOUR, 1)).toBe(REQUESTS_IN_A_TURN_MAX);
});

test.each([
  ['another port', OTHER],
  ['another address', NEIGHBOUR],
])('a request from %s in between resets the count', (_, peer) => {
  const limit = new PipelineLimit();
  const reached = Array.from({ length: 1_000 }, () => limit.isReached(ONE, 0) || limit.isReached(peer, 0));
  expect(reached).not.toContain(true);
});
