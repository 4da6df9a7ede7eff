// npm run test:faults: runs every fault for several rounds and prints a table of the results. Exits with 1 if a response
// was wrong or late, or a node did not recover.

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openReplicaScene, pollWithReplica } from '../chaos/cluster/replica-scene.ts';
import { clickUnderFaults } from '../chaos/traffic/clicks.ts';
import { removeTemporaryFolders, temporaryFolder } from '../support/databases.ts';
import { removePostgres, startReplica } from '../support/postgres-replica.ts';
import { postgresUrl, startPostgres } from '../support/postgres-server.ts';
import { CONNECTIONS_MAX, playRound, type RoundReport } from './fault-round.ts';
import { type Fault, POSTGRES_FAULTS } from './postgres-faults.ts';
import { Stage } from './stage.ts';

const UNAVAILABLE_WITHIN_MS = 2_000;
const RECOVERED_WITHIN_MS = 5_000;
const STEPS_A_ROUND = 100;
const KILLS = 50;
const COLUMNS = [32, 7, 9, 6, 7, 12, 12, 12];

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, only: { type: 'string', default: '' } },
});
const rounds = Number(values.rounds);

function print(...cells: (string | number)[]): void {
  const line = cells.map((cell, i) =>
    i === 0 ? String(cell).padEnd(COLUMNS[i] ?? 0) : String(cell).padStart(COLUMNS[i] ?? 0),
  );
  process.stdout.write(`${line.join(' ')}\n`);
}

/** A primary cannot be reused after a failover, so each of its rounds has its own stage. */
async function playRounds(fault: Fault): Promise<RoundReport[]> {
  const reports: RoundReport[] = [];
  while (reports.length < rounds) {
    await using stage = await Stage.open({ withStandby: fault.withStandby === true });
    do reports.push(await playRound(stage, fault));
    while (fault.withStandby !== true && reports.length < rounds);
  }
  return reports;
}

const problems: string[] = [];
print('fault of PostgreSQL', 'rounds', 'requests', 'wrong', '503', 'slowest 503', 'recovery', 'connections');
for (const fault of POSTGRES_FAULTS.filter(({ name }) => name.includes(values.only))) {
  const reports = await playRounds(fault);
  const most = (read: (report: RoundReport) => number) => Math.max(...reports.map(read));
  const sum = (read: (report: RoundReport) => number) => reports.reduce((all, each) => all + read(each), 0);
  const wrong = reports.flatMap((report) => report.wrong);
  const slowest503Ms = most((report) => report.slowest503Ms);
  const recoveryMs = most((report) => report.recoveryMs);
  const connections = most((report) => report.connections);
  print(
    fault.name,
    reports.length,
    sum(({ requests }) => requests),
    wrong.length,
    sum(({ unavailable }) => unavailable),
    `${Math.round(slowest503Ms)} ms`,
    `${Math.round(recoveryMs)} ms`,
    connections,
  );
  problems.push(...wrong.slice(0, 5).map((what) => `${fault.name}: ${what}`));
  if (slowest503Ms > UNAVAILABLE_WITHIN_MS) problems.push(`${fault.name}: a 503 took ${slowest503Ms} ms`);
  if (recoveryMs > RECOVERED_WITHIN_MS) problems.push(`${fault.name}: recovery took ${recoveryMs} ms`);
  if (connections > CONNECTIONS_MAX) problems.push(`${fault.name}: ${connections} connections are open`);
}

/** Pollers that read from the primary and from a delayed replica. */
async function pollReplica(): Promise<void> {
  const primary = await startPostgres(['-c', 'fsync=off']);
  const replica = await startReplica(primary);
  const scene = await openReplicaScene(primary, replica, 'postgres');
  const seed = Math.floor(Math.random() * 2 ** 31);
  const report = await pollWithReplica(scene, { primary, replica, steps: rounds * STEPS_A_ROUND, seed });
  await scene[Symbol.asyncDispose]();
  for (const server of [replica, primary]) await removePostgres(server);
  const { walks, pages, held, lost } = report;
  process.stdout.write(
    `\nreplica held up ${held} times (seed ${seed}): ${walks} walks, ${pages} pages, ${lost.length} changes lost\n`,
  );
  problems.push(...lost, ...report.violations);
}

/** Clicks while servers are killed fifty times and PostgreSQL is stopped and restarted. */
async function killDuringClicks(): Promise<void> {
  const postgres = await startPostgres();
  const takeAway = async () => {
    await postgres.process.stop();
    return () => postgres.process.start();
  };
  const outcomes = {
    SQLite: await clickUnderFaults({
      databaseUrl: `sqlite:${join(temporaryFolder(), 'clicks.db')}`,
      kills: KILLS,
      clicksEach: 200,
    }),
    PostgreSQL: await clickUnderFaults({
      databaseUrl: postgresUrl(postgres.port, 'postgres'),
      kills: KILLS,
      clicksEach: 200,
      takeAway,
    }),
  };
  await removePostgres(postgres);
  for (const [name, { answered, lost, twice }] of Object.entries(outcomes)) {
    process.stdout.write(`${name}: ${answered} clicks, ${KILLS} kills, ${lost} lost, ${twice} twice\n`);
    if (lost + twice > 0) problems.push(`${name}: ${lost} clicks were lost, ${twice} came twice`);
  }
}

if (values.only === '') await pollReplica();
if (values.only === '' || values.only === 'clicks') await killDuringClicks();
removeTemporaryFolders();
for (const problem of problems) process.stdout.write(`broken: ${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);
