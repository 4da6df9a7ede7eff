// Repeated failovers of a Patroni cluster under load. Installs Patroni, etcd, HAProxy and PostgreSQL 15 from Debian's packages
// first. docs/operations/failover.md has the results.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PatroniCluster } from '../cluster/patroni/patroni-cluster.ts';
import { FAULTS, type Fault } from '../faults/patroni-faults.ts';
import type { Run } from '../report/run.ts';
import type { Scenario } from '../scenario.ts';
import { type FailoverStage, MODES, type Mode, OldPrimaryReinstated, openStage } from './failover-stage.ts';

const FIRST_PAGE_WITHIN_S = 5;
const STARTS_MAX = 5;

export const failover: Scenario = {
  name: 'failover',
  summary:
    'Fails a Patroni cluster over again and again under load; no acknowledged change may be lost unnoticed. As root on Debian 12.',
  databases: [],
  minutes: 60,
  options: {
    rounds: { type: 'string', default: '1', help: 'for each mode and fault' },
    mode: { type: 'string', multiple: true, help: `${MODES.join(', ')}; all if absent` },
    fault: {
      type: 'string',
      multiple: true,
      help: `${FAULTS.map(({ name }) => name).join(', ')}; all if absent`,
    },
  },
  mustHappen: ['failovers', 'imports', 'clicks'],
  async run(run) {
    const faults = run.choose('fault', FAULTS, ({ name }) => name);
    for (const mode of run.choose('mode', MODES, (name) => name)) {
      const all = faults.flatMap((fault) => Array.from({ length: run.number('rounds') }, () => fault));
      await playMode(run, mode, run.random(mode).shuffled(all));
    }
  },
};

async function playMode(run: Run, mode: Mode, faults: readonly Fault[]): Promise<void> {
  await using stages = new AsyncDisposableStack();
  let stage: FailoverStage | undefined;
  for (const fault of faults) {
    if (run.isOver) break;
    const name = `${mode} ${fault.name}`;
    const violationsBefore = run.violationCount;
    let isUsable = true;
    try {
      stage ??= stages.use(await open(run, mode));
      await playRound(run, stage, name, fault);
    } catch (error) {
      isUsable = false;
      if (error instanceof OldPrimaryReinstated)
        run.print(`${name}: not counted, because Patroni made the old primary the leader again`);
      else run.violation('NOT COMPLETED', `${name}: ${error instanceof Error ? error.message : error}`);
    }
    if (run.violationCount > violationsBefore) for (const log of stage?.logs ?? []) saveLog(run, log);
    if (isUsable) continue;
    // The next round begins with a new cluster.
    await stage?.[Symbol.asyncDispose]();
    stage = undefined;
  }
}

async function playRound(run: Run, stage: FailoverStage, name: string, fault: Fault): Promise<void> {
  const { reports, ...figures } = await stage.play(fault);
  run.count('failovers');
  run.count('imports', figures.imports);
  run.count('clicks', figures.clicks);
  const row = { failover: name, ...figures, reports: reports.length };
  run.row(row);
  run.print(JSON.stringify(row));
  const messages = reports.map((line) => (JSON.parse(line) as { msg: string }).msg);
  for (const message of new Set(messages)) run.print(`  reported: ${message}`);
  const firstPage = figures['first 200, s'];
  run.require(`${name}: first 200 within 5 s`, firstPage <= FIRST_PAGE_WITHIN_S, firstPage);
}

/** Writes the log of a node to a new file, and prints its path. */
function saveLog(run: Run, text: string): void {
  const path = join(mkdtempSync(join(tmpdir(), 'offerbook-failover-log-')), 'log');
  writeFileSync(path, text);
  run.print(`  log of a node: ${path}`);
}

/** On a busy machine, servers may be too slow for the first connections of the nodes. */
async function open(run: Run, mode: Mode): Promise<FailoverStage> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await openStage(run, await PatroniCluster.start(mode === 'synchronous'), mode);
    } catch (error) {
      if (attempt === STARTS_MAX) throw error;
    }
  }
}
