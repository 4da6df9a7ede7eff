import { expect, test } from 'bun:test';
import { nextTurn, REQUESTS_OF_ALL_MAX, TURN_MAX_MS, TurnBudget } from '../../src/http/access/turn-budget.ts';

/** Number of the first request in a turn that has to wait. */
function firstToWait(budget: TurnBudget, nowMs: (count: number) => number = () => 0): number {
  for (let count = 1; ; count++) if (budget.isSpent(nowMs(count))) return count;
}

test('each event-loop turn answers at most a fixed number of requests', async () => {
  const budget = new TurnBudget();
  for (let turn = 0; turn < 3; turn++) {
    expect(firstToWait(budget)).toBe(REQUESTS_OF_ALL_MAX + 1);
    expect(budget.isSpent(0)).toBe(true);
    await nextTurn();
  }
});

test('a slow event-loop turn answers fewer requests', () => {
  const msOfOne = TURN_MAX_MS / 10;
  expect(firstToWait(new TurnBudget(), (count) => count * msOfOne)).toBe(12);
});

test('sequential requests never wait, regardless of the time between them', async () => {
  const budget = new TurnBudget();
  const seen = new Set<boolean>();
  for (let request = 0; request < 3 * REQUESTS_OF_ALL_MAX; request++) {
    seen.add(budget.isSpent(request * 1_000));
    await nextTurn();
  }
  expect(seen).toEqual(new Set([false]));
});
