// npm run test:failover: causes repeated failovers of a Patroni cluster under load, and prints what was kept and what was lost.
// Installs Patroni, etcd, HAProxy and PostgreSQL 15 from Debian's packages first. Exits with 1 if a guarantee was violated.

import { parseArgs } from 'node:util';
import { Random } from '@offerbook/sandbox/random.ts';
import { PatroniCluster } from '../chaos/cluster/patroni/patroni-cluster.ts';
import { FAULTS, type Fault } from '../chaos/faults/patroni-faults.ts';
import { removeTemporaryFolders } from '../support/databases.ts';
import { FailoverRun, MODES, type Mode, OldPrimaryReinstated, type RoundReport } from './failover-run.ts';

const FIRST_PAGE_WITHIN_MS = 5_000;
const STARTS_MAX = 5;

const { values } = parseArgs({
  options: {
    /** For each mode and fault. */
    rounds: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string' },
    fault: { type: 'string', multiple: true },
    mode: { type: 'string', multiple: true },
    'wait-for-ttl': { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const endMs = performance.now() + Number(values.minutes) * 60_000;
const modes = choose('mode', MODES, (mode) => mode, values.mode);
const faults = choose('fault', FAULTS, ({ name }) => name, values.fault);

function choose<T>(
  what: string,
  all: readonly T[],
  nameOf: (item: T) => string,
  names: readonly string[] | undefined,
): readonly T[] {
  for (const name of names ?? []) {
    if (!all.some((item) => nameOf(item) === name))
      throw new Error(`there is no ${what} ${name}; choose from ${all.map(nameOf).join(', ')}`);
  }
  return all.filter((item) => names === undefined || names.includes(nameOf(item)));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

interface Row extends RoundReport {
  readonly mode: Mode;
}

const rows: Row[] = [];
const problems: string[] = [];
let cluster: PatroniCluster | undefined;
let run: FailoverRun | undefined;

/** The same faults in the same order for the same seed. */
function plan(mode: Mode): Fault[] {
  const all = faults.flatMap((fault) => Array.from({ length: Number(values.rounds) }, () => fault));
  return new Random(seed, mode).shuffled(all);
}

/** On a busy machine, servers may be too slow for the first connections of the nodes. */
async function open(mode: Mode): Promise<FailoverRun> {
  for (let attempt = 1; ; attempt++) {
    try {
      cluster = await PatroniCluster.start(mode === 'synchronous');
      run = await FailoverRun.start(cluster, { mode, seed, waitsForTtl: values['wait-for-ttl'] });
      return run;
    } catch (error) {
      cleanUp();
      if (attempt === STARTS_MAX) throw error;
    }
  }
}

/** A round that cannot be completed counts as a problem. The next one begins with a new cluster. */
async function play(mode: Mode, fault: Fault): Promise<RoundReport | undefined> {
  try {
    return await (run ?? (await open(mode))).play(fault);
  } catch (error) {
    if (error instanceof OldPrimaryReinstated) {
      print(`${mode} ${fault.name}: not counted, because Patroni made the old primary the leader again`);
      cleanUp();
      return undefined;
    }
    const message = `${mode} ${fault.name}: not completed: ${error instanceof Error ? error.message : error}`;
    print(`  ${message}`);
    problems.push(message);
    saveLogs();
    cleanUp();
    return undefined;
  }
}

function saveLogs(): void {
  if (run !== undefined) print(`  logs of the nodes: ${run.saveLogs()}`);
}

async function playMode(mode: Mode): Promise<void> {
  for (const fault of plan(mode)) {
    if (performance.now() > endMs) break;
    const report = await play(mode, fault);
    if (report === undefined) continue;
    rows.push({ mode, ...report });
    const { promotionMs, firstPageMs, imports, lostRows, clicks, lostClicks, contradicted, extra } = report;
    print(
      `${new Date().toISOString().slice(11, 19)} ${mode} ${fault.name}: ` +
        `${report.promotions > 1 ? `${report.promotions} promotions, ` : ''}promoted after ${seconds(promotionMs)}, ` +
        `first 200 after ${seconds(firstPageMs)}, ${imports} imports (${lostRows} rows lost), ` +
        `${clicks} clicks (${lostClicks} lost), ${contradicted} contradicted, ${extra} extra, ` +
        `compared in ${seconds(report.repairMs)}, ${report.reports.length} reports`,
    );
    if (firstPageMs > FIRST_PAGE_WITHIN_MS)
      problems.push(`${mode} ${fault.name}: first 200 after ${seconds(firstPageMs)}`);
    const reported = new Set(report.reports.map((line) => (JSON.parse(line) as { msg: string }).msg));
    for (const message of reported) print(`  reported: ${message}`);
    for (const problem of report.problems) {
      print(`  ${problem}`);
      problems.push(`${mode} ${fault.name}: ${problem}`);
    }
    if (report.problems.length > 0) saveLogs();
  }
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

function printTable(): void {
  const widths = [14, 12, 10, 12, 10, 10, 9, 9, 9, 13, 7, 9];
  const printRow = (cells: readonly (string | number)[]) =>
    print(
      cells
        .map((cell, i) =>
          String(cell)
            .padStart(i < 2 ? 0 : (widths[i] ?? 0))
            .padEnd(widths[i] ?? 0),
        )
        .join(' '),
    );
  print('');
  printRow([
    'mode',
    'fault',
    'failovers',
    'promotion',
    '200 median',
    '200 max',
    'imports',
    'lost',
    'clicks',
    'lost clicks',
    'wrong',
    'extra',
    'reported',
  ]);
  for (const mode of modes) {
    for (const { name } of faults) {
      const all = rows.filter((row) => row.mode === mode && row.fault === name);
      if (all.length === 0) continue;
      const sum = (read: (row: Row) => number) => all.reduce((total, row) => total + read(row), 0);
      const times = all.map(({ firstPageMs }) => firstPageMs).sort((a, b) => a - b);
      printRow([
        mode,
        name,
        all.length,
        seconds(sum(({ promotionMs }) => promotionMs) / all.length),
        seconds(times[times.length >> 1] ?? 0),
        seconds(times.at(-1) ?? 0),
        sum(({ imports }) => imports),
        sum(({ lostRows }) => lostRows),
        sum(({ clicks }) => clicks),
        sum(({ lostClicks }) => lostClicks),
        sum(({ contradicted }) => contradicted),
        sum(({ extra }) => extra),
        all.filter(({ reports }) => reports.length > 0).length,
      ]);
    }
  }
}

function cleanUp(): void {
  run?.[Symbol.dispose]();
  cluster?.[Symbol.dispose]();
  [run, cluster] = [undefined, undefined];
}

process.on('exit', () => {
  cleanUp();
  removeTemporaryFolders();
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

print(`seed ${seed}`);
for (const mode of modes) {
  await playMode(mode);
  cleanUp();
}
printTable();
for (const problem of problems) print(`broken: ${problem}`);
if (problems.length > 0)
  print(`Run it again: npm run test:failover -- --seed ${seed} --rounds ${values.rounds}`);
process.exit(problems.length === 0 ? 0 : 1);
