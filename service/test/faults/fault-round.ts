// One round of a fault: requests go on before, during and after it; what they were answered is the report.

import type { Fault } from './postgres-faults.ts';
import type { Stage } from './stage.ts';
import { type Answer, Traffic } from './traffic.ts';

/** Long enough for a request that is answered late to be answered within the fault. */
const HOLD_MS = 2_500;
const CALM_MS = 1_000;
const PATIENCE_MS = 60_000;
/** What a node opens at most: its pool, and the connection on which it listens. */
export const CONNECTIONS_MAX = 11;

export interface RoundReport {
  readonly requests: number;
  /** Answers that were neither right nor, for transactions, a proper 503. */
  readonly wrong: readonly string[];
  readonly unavailable: number;
  /** The longest that anybody waited for a 503. */
  readonly slowest503Ms: number;
  /** From the end of the fault to the last 503. */
  readonly recoveryMs: number;
  /** Connections that the node has to the database when all is over. */
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
    connections: await stage.connections(server),
  };
}

function longest(answers: readonly Answer[]): number {
  return Math.max(0, ...answers.map(({ startedMs, endedMs }) => endedMs - startedMs));
}
