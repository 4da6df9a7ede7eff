// PostgreSQL is stopped, killed, frozen, cut off, out of connections or failed over while clients send requests. The catalogue
// is served from memory, transactions get 503 in time, and the node recovers without a restart and without leaked connections.

import { until } from '../../support/until.ts';
import { countConnections, openStage, type Stage } from '../cluster/stage.ts';
import { type Fault, POSTGRES_FAULTS } from '../faults/postgres-faults.ts';
import type { Run } from '../report/run.ts';
import type { Scenario } from '../scenario.ts';
import { type Answer, CheckedRequests } from '../traffic/checked-requests.ts';

const UNAVAILABLE_WITHIN_MS = 2_000;
const RECOVERED_WITHIN_MS = 5_000;
/** An outage lasts until this many requests were rejected: two for each client that requests transactions. */
const REJECTED_MIN = 24;
/** Maximum number of a node's connections to its database. */
const CONNECTIONS_MAX = 11;

export const faults: Scenario = {
  name: 'faults',
  summary: 'Causes every fault of PostgreSQL; the catalogue is served and the node recovers.',
  databases: ['PostgreSQL'],
  minutes: 10,
  options: {
    fault: { type: 'string', multiple: true, help: 'a fault, such as frozen; all if absent' },
    rounds: { type: 'string', default: '3', help: 'rounds of each fault' },
    busy: {
      type: 'boolean',
      help: 'all faults at once, and times are reported without checking their limits',
    },
  },
  mustHappen: ['requests', '503 responses'],
  short: {
    minutes: 10,
    values: {
      busy: true,
      rounds: '1',
      // The other faults are short, or tested in http/outage.test.ts.
      fault: ['frozen', 'cut off without a reset', 'out of connections', 'failed over to another address'],
    },
  },
  async run(run) {
    const chosen = run.choose('fault', POSTGRES_FAULTS, ({ name }) => name);
    if (run.flag('busy')) await Promise.all(chosen.map((fault) => playFault(run, fault)));
    else for (const fault of chosen) await playFault(run, fault);
  },
};

/** A primary cannot be reused after a failover, so each of its rounds has its own stage. */
async function playFault(run: Run, fault: Fault): Promise<void> {
  const isReusable = fault.withStandby !== true;
  for (let round = 0; round < run.number('rounds') && !run.isOver; ) {
    await using stack = new AsyncDisposableStack();
    const stage = await openStage(stack, !isReusable);
    do {
      await playRound(run, stage, fault);
      round += 1;
    } while (isReusable && round < run.number('rounds') && !run.isOver);
  }
}

async function playRound(run: Run, stage: Stage, fault: Fault): Promise<void> {
  await using requests = await CheckedRequests.start(stage.node.url, stage.targets);
  await requests.untilServed();
  const end = await fault.begin(stage);
  if (fault.isOutage) await requests.untilAnswered(REJECTED_MIN, 503);
  const server = await end();
  const endedMs = performance.now();
  await requests.untilServed();
  report(run, fault, await requests.stop(), endedMs);
  // Replaced connections are closed after a few seconds.
  await until(
    () => countConnections(server),
    (count) => count <= CONNECTIONS_MAX,
  );
}

function report(run: Run, { name }: Fault, answers: readonly Answer[], endedMs: number): void {
  const rejected = answers.filter(({ status }) => status === 503);
  const slowest503Ms = Math.round(Math.max(0, ...rejected.map((it) => it.endedMs - it.startedMs)));
  const recoveryMs = Math.round(Math.max(0, ...rejected.map((it) => it.endedMs - endedMs)));
  run.count('requests', answers.length);
  run.count('503 responses', rejected.length);
  run.row({
    fault: name,
    requests: answers.length,
    rejected: rejected.length,
    'slowest 503, ms': slowest503Ms,
    'recovery, ms': recoveryMs,
  });
  for (const { wrong } of answers) if (wrong !== undefined) run.violation('WRONG', `${name}: ${wrong}`);
  if (run.flag('busy')) return;
  run.require(`${name}: a 503 comes within 2 s`, slowest503Ms <= UNAVAILABLE_WITHIN_MS, slowest503Ms);
  run.require(`${name}: the node recovers within 5 s`, recoveryMs <= RECOVERED_WITHIN_MS, recoveryMs);
}
