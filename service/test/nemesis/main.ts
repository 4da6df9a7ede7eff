// npm run test:nemesis: runs the nemesis for --minutes, or --durability rounds of killing everything. Prints what was done and
// what was lost. If anything was lost, prints how to run the same plan again and exits with 1.

import { parseArgs } from 'node:util';
import { DATABASES } from '../support/databases.ts';
import { stopPostgres } from '../support/postgres-server.ts';
import { runDurability } from './durability.ts';
import { MACHINES } from './machine.ts';
import { runNemesis } from './nemesis.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    durability: { type: 'string' },
    seed: { type: 'string' },
    database: { type: 'string' },
  },
});

const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function isChosen({ name }: { name: string }): boolean {
  return values.database === undefined || name.toLowerCase().startsWith(values.database);
}

/** Prints a report with its problems last; returns true if there were any. */
function printReport(
  { lost, ...rest }: { lost: number },
  problems: readonly string[],
  replay: string,
): boolean {
  const counts = Object.entries(rest).filter(([, value]) => typeof value === 'number');
  for (const [what, count] of [...counts, ['LOST', lost]]) print(`  ${String(what).padEnd(20)} ${count}`);
  for (const problem of problems) print(`  broken: ${problem}`);
  if (problems.length === 0) return false;
  print(`Run it again: npm run test:nemesis -- ${replay}`);
  return true;
}

async function runAllNemeses(minutes: number): Promise<boolean> {
  let failed = false;
  for (const { name, create } of DATABASES.filter(isChosen)) {
    print(`${name}, ${minutes} min, seed ${seed}`);
    const report = await runNemesis({ databaseUrl: await create(), seed, durationMs: minutes * 60_000 });
    const replay = `--minutes ${minutes} --seed ${seed} --database ${name.toLowerCase()}`;
    failed = printReport(report, report.violations, replay) || failed;
  }
  return failed;
}

async function runAllDurability(rounds: number): Promise<boolean> {
  let failed = false;
  for (const { name, open } of MACHINES.filter(isChosen)) {
    print(`${name}, killed ${rounds} times, seed ${seed}`);
    await using machine = await open();
    const report = await runDurability(machine, rounds, seed);
    const problems = [...report.damage];
    if (report.lost > 0) problems.push(`${report.lost} acknowledged rows were lost`);
    if (report.half > 0) problems.push(`after ${report.half} rounds an import was there by half`);
    if (report.acknowledged < rounds) problems.push(`only ${report.acknowledged} imports were acknowledged`);
    const replay = `--durability ${rounds} --seed ${seed} --database ${name.toLowerCase()}`;
    failed = printReport(report, problems, replay) || failed;
  }
  return failed;
}

const run =
  values.durability === undefined
    ? runAllNemeses(Number(values.minutes))
    : runAllDurability(Number(values.durability));
process.exit((await run.finally(stopPostgres)) ? 1 : 0);
