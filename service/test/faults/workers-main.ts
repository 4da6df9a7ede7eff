// The soak of a node with workers: `npx bun service/test/faults/workers-main.ts --minutes 60 --offers 300000`. Prints every
// round with its results; exits with 1 if a response was wrong or late, or if memory grew.

import { parseArgs } from 'node:util';
import { DATABASES, removeTemporaryFolders } from '../support/databases.ts';
import { removePostgres } from '../support/postgres-replica.ts';
import { postgresUrl, startPostgres } from '../support/postgres-server.ts';
import { type SoakReport, soakWorkers } from './worker-soak.ts';

const REVOKED_WITHIN_MS = 4_000;
const MEMORY_GROWTH_MAX = 1.15;
/** With fewer rounds, memory has not reached its steady state. */
const ROUNDS_FOR_MEMORY = 20;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    workers: { type: 'string', default: '4' },
    offers: { type: 'string', default: '30000' },
    database: { type: 'string', default: 'postgresql' },
  },
});

function print(line: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function problemsOf({ wrong, memoryMb, revokedWithinMs }: SoakReport): string[] {
  const quarter = Math.ceil(memoryMb.length / 4);
  // The first quarter warms up the server.
  const [earlier, later] = [memoryMb.slice(quarter, 2 * quarter), memoryMb.slice(-quarter)].map(median);
  const problems = wrong.slice(0, 20);
  if (revokedWithinMs > REVOKED_WITHIN_MS) problems.push(`a revoked token worked for ${revokedWithinMs} ms`);
  print(`memory: ${earlier} MB in the second quarter, ${later} MB in the last`);
  const isWarm = memoryMb.length >= ROUNDS_FOR_MEMORY;
  if (isWarm && (later ?? 0) > (earlier ?? 0) * MEMORY_GROWTH_MAX) problems.push('memory grows');
  return problems;
}

const options = {
  minutes: Number(values.minutes),
  workers: Number(values.workers),
  offers: Number(values.offers),
  onRound: print,
};
const isSqlite = 'sqlite'.startsWith(values.database);
const postgres = isSqlite ? undefined : await startPostgres(['-c', 'fsync=off']);
const databaseUrl =
  postgres === undefined
    ? await DATABASES.find(({ name }) => name === 'SQLite')?.create()
    : postgresUrl(postgres.port, 'postgres');
const report = await soakWorkers({ ...options, databaseUrl: databaseUrl ?? '', postgres });
const { memoryMb: _, wrong: __, ...figures } = report;
print(JSON.stringify(figures));
const problems = problemsOf(report);
for (const problem of problems) print(`broken: ${problem}`);
if (postgres !== undefined) await removePostgres(postgres);
removeTemporaryFolders();
process.exit(problems.length === 0 ? 0 : 1);
