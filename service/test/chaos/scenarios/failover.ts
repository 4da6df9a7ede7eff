// Repeated failovers of a Patroni cluster under load. Installs Patroni, etcd, HAProxy and PostgreSQL 15 from Debian's packages
// first. docs/operations/failover.md has the results.

import { PatroniCluster } from '../cluster/patroni/patroni-cluster.ts';
import { FAULTS, type Fault } from '../faults/patroni-faults.ts';
import type { Run } from '../report/run.ts';
import type { Scenario } from '../scenario.ts';
import { FailoverStage, MODES, type Mode, OldPrimaryReinstated, type RoundReport } from './failover-stage.ts';

const FIRST_PAGE_WITHIN_MS = 5_000;
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
    'wait-for-ttl': { type: 'boolean', help: "wait for etcd's ttl instead of ending the leader's lease" },
  },
  mustHappen: ['failovers', 'imports', 'clicks'],
  async run(run) {
    const rows: Round[] = [];
    const faults = run.choose('fault', FAULTS, ({ name }) => name);
    const modes = run.choose('mode', MODES, (mode) => mode);
    for (const mode of modes) {
      const all = faults.flatMap((fault) => Array.from({ length: run.number('rounds') }, () => fault));
      rows.push(...(await playMode(run, mode, run.random(mode).shuffled(all))));
    }
    for (const mode of modes) for (const { name } of faults) addRow(run, mode, name, rows);
  },
};

interface Round extends RoundReport {
  readonly mode: Mode;
  readonly fault: string;
}

async function playMode(run: Run, mode: Mode, faults: readonly Fault[]): Promise<Round[]> {
  const rounds: Round[] = [];
  await using stages = new AsyncDisposableStack();
  let stage: FailoverStage | undefined;
  for (const fault of faults) {
    if (run.isOver) break;
    const violationsBefore = run.violationCount;
    try {
      stage ??= stages.use(await open(run, mode));
      const report = await stage.play(fault);
      rounds.push({ ...report, mode, fault: fault.name });
      printRound(run, mode, fault, report);
    } catch (error) {
      // The next round begins with a new cluster.
      if (error instanceof OldPrimaryReinstated)
        run.print(
          `${mode} ${fault.name}: not counted, because Patroni made the old primary the leader again`,
        );
      else
        run.violation(
          'NOT COMPLETED',
          `${mode} ${fault.name}: ${error instanceof Error ? error.message : error}`,
        );
      if (run.violationCount > violationsBefore) stage?.saveLogs();
      await stage?.[Symbol.asyncDispose]();
      stage = undefined;
    }
    if (stage !== undefined && run.violationCount > violationsBefore) stage.saveLogs();
  }
  return rounds;
}

/** On a busy machine, servers may be too slow for the first connections of the nodes. */
async function open(run: Run, mode: Mode): Promise<FailoverStage> {
  for (let attempt = 1; ; attempt++) {
    const cluster = await PatroniCluster.start(mode === 'synchronous');
    try {
      return await FailoverStage.start(run, cluster, mode);
    } catch (error) {
      cluster[Symbol.dispose]();
      if (attempt === STARTS_MAX) throw error;
    }
  }
}

function printRound(run: Run, mode: Mode, fault: Fault, report: RoundReport): void {
  const { promotions, promotionMs, firstPageMs, imports, lostRows, clicks, lostClicks } = report;
  run.count('failovers');
  run.count('imports', imports);
  run.count('clicks', clicks);
  run.print(
    `${new Date().toISOString().slice(11, 19)} ${mode} ${fault.name}: ` +
      `${promotions > 1 ? `${promotions} promotions, ` : ''}promoted after ${seconds(promotionMs)}, ` +
      `first 200 after ${seconds(firstPageMs)}, ${imports} imports (${lostRows} rows lost), ` +
      `${clicks} clicks (${lostClicks} lost), ${report.contradicted} contradicted, ${report.extra} extra, ` +
      `compared in ${seconds(report.repairMs)}, ${report.reports.length} reports`,
  );
  const reported = report.reports.map((line) => (JSON.parse(line) as { msg: string }).msg);
  for (const message of new Set(reported)) run.print(`  reported: ${message}`);
  run.require(
    `${mode} ${fault.name}: first 200 within 5 s`,
    firstPageMs <= FIRST_PAGE_WITHIN_MS,
    seconds(firstPageMs),
  );
}

function addRow(run: Run, mode: Mode, fault: string, rounds: readonly Round[]): void {
  const all = rounds.filter((round) => round.mode === mode && round.fault === fault);
  if (all.length === 0) return;
  const sum = (read: (round: Round) => number) => all.reduce((total, round) => total + read(round), 0);
  const times = all.map(({ firstPageMs }) => firstPageMs).sort((a, b) => a - b);
  run.row({
    mode,
    fault,
    failovers: all.length,
    promotion: seconds(sum(({ promotionMs }) => promotionMs) / all.length),
    '200 median': seconds(times[times.length >> 1] ?? 0),
    '200 max': seconds(times.at(-1) ?? 0),
    imports: sum(({ imports }) => imports),
    lost: sum(({ lostRows }) => lostRows),
    clicks: sum(({ clicks }) => clicks),
    'lost clicks': sum(({ lostClicks }) => lostClicks),
    wrong: sum(({ contradicted }) => contradicted),
    extra: sum(({ extra }) => extra),
    reported: all.filter(({ reports }) => reports.length > 0).length,
  });
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
