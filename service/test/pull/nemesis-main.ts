// npm run test:pull: kills, freezes and disconnects pulls from every fake network on both databases, and compares the database
// with the network. Then pulls from networks whose change filters leak. `--minutes 20` ends each run of kills after that time.
// Exits with 1 if anything was lost, doubled, wrong or stamped for nothing, if a catalogue differs from the network's, or if a
// change was not found.

import { parseArgs } from 'node:util';
import { NETWORKS, type NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import { DATABASES, type TestDatabase } from '../support/databases.ts';
import { stopPostgres } from '../support/postgres-server.ts';
import { runWithLeaks } from './leaks.ts';
import { type NemesisReport, runPullNemesis } from './nemesis.ts';
import type { Comparison } from './network-pull.ts';

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
      const isRight =
        print(`${network} on ${database.name}`, report) && (await findsLeaks(network, database));
      if (isRight) continue;
      failed = true;
      const replay = `--kills ${kills} --seed ${seed} --network ${network} --database ${database.name}`;
      process.stdout.write(`Run it again: npm run test:pull -- ${replay}\n`);
    }
  }
  return failed;
}

/** Rakuten keeps no old sales that could be read again. */
async function findsLeaks(network: NetworkName, database: TestDatabase): Promise<boolean> {
  if (network === 'rakuten') return true;
  const { before, after, found } = await runWithLeaks(network, database, { leakShare: 0.3, salesPerDay: 60 });
  const title = `${network} on ${database.name}, leaking filters: wrong before ${before.wrong}, found ${found}`;
  return print(title, after) && before.wrong > 0 && found >= before.wrong;
}

/** Returns true if the database equals the network. */
function print(title: string, { examples, ...counts }: NemesisReport | Comparison): boolean {
  const shown = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  process.stdout.write(`${title}: ${shown.join(', ')}\n`);
  for (const example of examples) process.stdout.write(`  ${example}\n`);
  const { lost, extra, wrong, needless } = counts;
  const catalogue = 'notOffered' in counts ? counts.torn + counts.notOffered + counts.notWithdrawn : 0;
  return lost + extra + wrong + needless + catalogue === 0;
}

process.exit((await run().finally(stopPostgres)) ? 1 : 0);
