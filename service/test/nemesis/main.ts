// npm run test:nemesis: runs the nemesis for --minutes. Prints what was done and
// what was lost. If anything was lost, prints how to run the same plan again and exits with 1.

import { parseArgs } from 'node:util';
import { DATABASES } from '../support/databases.ts';
import { stopPostgres } from '../support/postgres-server.ts';
import { runNemesis } from './nemesis.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
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

process.exit((await runAllNemeses(Number(values.minutes)).finally(stopPostgres)) ? 1 : 0);
