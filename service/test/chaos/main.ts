// npm run test:chaos -- SCENARIO [--minutes N] [--seed N] [--database NAME]: runs a scenario and prints its report. Exits with 1
// if a guarantee was violated, after printing the command that repeats the run.

import { parseArgs } from 'node:util';
import { removeTemporaryFolders, type TestDatabase } from '../support/databases.ts';
import { stopPostgres } from '../support/postgres-server.ts';
import { play, printReport } from './report/play.ts';
import { databasesOf, type Options, type Scenario, type Values } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';

const COMMON: Options = {
  minutes: { type: 'string', help: 'how long to run' },
  seed: { type: 'string', help: 'determines every decision; random if absent' },
  database: { type: 'string', help: 'sqlite or postgresql; both if absent' },
  busy: { type: 'boolean', help: 'report times without checking their limits' },
  help: { type: 'boolean', help: 'print this text' },
};

const print = (line: string) => void process.stdout.write(`${line}\n`);

function printHelp(scenario: Scenario | undefined): void {
  print('Usage: npm run test:chaos -- SCENARIO [options]\n');
  for (const { name, guarantee, minutes } of scenario === undefined ? SCENARIOS : [scenario])
    print(`  ${name.padEnd(12)} ${guarantee} (${minutes} min)`);
  print('');
  for (const [name, { help, default: value }] of Object.entries({ ...COMMON, ...scenario?.options }))
    print(`  --${name.padEnd(14)} ${help}${value === undefined ? '' : ` (default: ${value})`}`);
  if (scenario === undefined) print('\nSCENARIO --help lists the further options of a scenario.');
}

/** The databases of the scenario whose names begin with `wanted`. */
function chooseDatabases(scenario: Scenario, wanted: string): readonly TestDatabase[] {
  const all = databasesOf(scenario);
  const chosen = all.filter(({ name }) => name.toLowerCase().startsWith(wanted.toLowerCase()));
  if (chosen.length > 0) return chosen;
  throw new Error(`--database ${wanted} is none of ${all.map(({ name }) => name).join(', ')}`);
}

async function runOn(scenario: Scenario, database: TestDatabase, values: Values): Promise<boolean> {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
  const minutes = Number(values.minutes ?? scenario.minutes);
  if (!Number.isSafeInteger(seed) || !(minutes >= 0)) throw new Error('--seed and --minutes must be numbers');
  print(`${scenario.name} on ${database.name}, seed ${seed}, ${minutes} min`);
  const settings = { seed, minutes, database, values, print: (line: string) => print(`  ${line}`) };
  const report = await play(scenario, settings);
  print(printReport(report));
  if (report.violations.length === 0) return true;
  const given: Values = { ...values, minutes: `${minutes}`, seed: `${seed}`, database: database.name };
  const options = Object.entries(given).flatMap(([name, value]) =>
    [value].flat().map((each) => (each === true ? `--${name}` : `--${name} '${each}'`)),
  );
  print(`To repeat: npm run test:chaos -- ${scenario.name} ${options.join(' ')}`);
  return false;
}

const [, , name = '', ...rest] = process.argv;
const scenario = SCENARIOS.find((each) => each.name === name);
if (scenario === undefined && !['', '--help'].includes(name)) {
  print(`There is no scenario ${name}; choose from ${SCENARIOS.map((each) => each.name).join(', ')}.`);
  process.exit(2);
}
const values: Values = parseArgs({ args: rest, options: { ...COMMON, ...scenario?.options } }).values;
if (scenario === undefined || values.help === true) {
  printHelp(scenario);
  process.exit(0);
}
let isGood = true;
try {
  for (const database of chooseDatabases(scenario, String(values.database ?? '')))
    isGood = (await runOn(scenario, database, values)) && isGood;
} finally {
  await stopPostgres();
  removeTemporaryFolders();
}
process.exit(isGood ? 0 : 1);
