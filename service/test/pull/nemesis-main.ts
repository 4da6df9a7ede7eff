// npm run test:pull: kills, freezes and disconnects pulls from every fake network on both databases, and compares the database
// with the network. `--minutes 20` ends each run after that time, whatever the number of kills. Exits with 1 if anything was
// lost, doubled, wrong or stamped for nothing.

import { parseArgs } from 'node:util';
import { NETWORKS } from '@offerbook/sandbox/networks/accounts.ts';
import { DATABASES } from '../support/databases.ts';
import { stopPostgres } from '../support/postgres-server.ts';
import { runPullNemesis } from './nemesis.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    seed: { type: 'string' },
    network: { type: 'string' },
    database: { type: 'string' },
    minutes: { type: 'string' },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const kills = Number(values.kills);
const isChosen = (name: string, chosen: string | undefined) =>
  chosen === undefined || name.toLowerCase() === chosen.toLowerCase();

async function run(): Promise<boolean> {
  let failed = false;
  for (const database of DATABASES.filter(({ name }) => isChosen(name, values.database))) {
    for (const network of NETWORKS.filter((name) => isChosen(name, values.network))) {
      const untilMs = Date.now() + Number(values.minutes ?? Number.POSITIVE_INFINITY) * 60_000;
      const databaseUrl = await database.create();
      const report = await runPullNemesis({ databaseUrl, network, seed, kills, untilMs });
      const { examples, ...counts } = report;
      const shown = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
      process.stdout.write(`${network} on ${database.name}: ${shown.join(', ')}\n`);
      for (const example of examples) process.stdout.write(`  ${example}\n`);
      if (report.lost + report.extra + report.wrong + report.needless === 0) continue;
      failed = true;
      const replay = `--kills ${kills} --seed ${seed} --network ${network} --database ${database.name}`;
      process.stdout.write(`Run it again: npm run test:pull -- ${replay}\n`);
    }
  }
  return failed;
}

process.exit((await run().finally(stopPostgres)) ? 1 : 0);
