// One round of a fault: sends requests before, during and after it, and reports their responses.

import type { PostgresServer } from '../support/postgres-server.ts';
import type { Fault } from './postgres-faults.ts';
import type { Stage } from './stage.ts';
import { type Answer, Traffic } from './traffic.ts';

/** Long enough that even a late response arrives during the fault. */
const HOLD_MS = 2_500;
const CALM_MS = 1_000;
const PATIENCE_MS = 60_000;
/** Maximum number of a node's connections to its database. */
export const CONNECTIONS_MAX = 11;
/** Time in which a node must close the connections that it has replaced. */
const CLOSING_MS = 5_000;

export interface RoundReport {
  readonly requests: number;
  /** Responses that were neither correct nor, for transactions, a valid 503. */
  readonly wrong: readonly string[];
  readonly unavailable: number;
  /** Longest time until a 503. */
  readonly slowest503Ms: number;
  /** Time from the end of the fault to the last 503. */
  readonly recoveryMs: number;
  /** The node's connections to the database at the end. */
  readonly connections: number;
}

export async function playRound(stage: Stage, fault: Fault, holdMs = HOLD_MS): Promise<RoundReport> {
  const traffic = await Traffic.start(stage.node.url, stage.targets);
  await traffic.untilCalm(300, PATIENCE_MS);
  const end = await fault.begin(stage);
  if (fault.isOutage) await Bun.sleep(holdMs);
  const server = await end();
  const endedMs = performance.now();
  await traffic.untilCalm(CALM_MS, PATIENCE_MS);
  const answers = await traffic.stop();
  const refused = answers.filter(({ status }) => status === 503);
  return {
    requests: answers.length,
    wrong: answers.flatMap(({ wrong }) => wrong ?? []),
    unavailable: refused.length,
    slowest503Ms: longest(refused),
    recoveryMs: Math.max(0, ...refused.map((answer) => answer.endedMs - endedMs)),
    connections: await remainingConnections(stage, server),
  };
}

/** Counts the connections once replaced ones have been closed, or when the time for that is over. */
async function remainingConnections(stage: Stage, server: PostgresServer): Promise<number> {
  const endMs = performance.now() + CLOSING_MS;
  for (;;) {
    const count = await stage.connections(server);
    if (count <= CONNECTIONS_MAX || performance.now() > endMs) return count;
    await Bun.sleep(100);
  }
}

function longest(answers: readonly Answer[]): number {
  return Math.max(0, ...answers.map(({ startedMs, endedMs }) => endedMs - startedMs));
}
