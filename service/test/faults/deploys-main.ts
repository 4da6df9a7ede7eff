// The long form of deploys.ts: `bun service/test/faults/deploys-main.ts --stops 50 --rate 1000`. Prints what was
// done and what failed; exits with 1 if anything failed.

import { parseArgs } from 'node:util';
import { seed } from '../load/loaded-service.ts';
import { DATABASES } from '../support/databases.ts';
import { stopPostgres } from '../support/postgres-server.ts';
import { PROXIES } from '../support/reverse-proxy.ts';
import { Fleet } from './deploys.ts';

const { values } = parseArgs({
  options: {
    stops: { type: 'string', default: '50' },
    rate: { type: 'string', default: '1000' },
    proxy: { type: 'string' },
    database: { type: 'string', default: 'sqlite' },
  },
});

let failed = false;
const database = DATABASES.find(({ name }) => name.toLowerCase().startsWith(values.database));
if (database === undefined) throw new Error(`there is no database ${values.database}`);
try {
  for (const proxy of PROXIES.filter((name) => values.proxy === undefined || name === values.proxy)) {
    await using fleet = await Fleet.start(await seed(await database.create()), [proxy]);
    const replace = () => fleet.replaceAll(Number(values.stops));
    const [report] = await fleet.underLoad(Number(values.rate), replace);
    if (report === undefined) throw new Error(`no requests were sent through ${proxy}`);
    const odd = fleet.exitCodes.filter((code) => code !== 0).length;
    const bad = report.answered - (report.statuses[200] ?? 0);
    const cutOff = Object.values(report.failures).reduce((sum, count) => sum + count, 0);
    failed ||= odd + bad + cutOff > 0;
    process.stdout.write(
      `${database.name} behind ${proxy}: ${values.stops} stops, ${report.answered} requests at ${values.rate} a second\n` +
        `  FAILED ${bad + cutOff}  statuses ${JSON.stringify(report.statuses)}  failures ${JSON.stringify(report.failures)}\n` +
        `  exit codes other than 0: ${odd}  unsent: ${report.unsent}  p99: ${report.p99Ms.toFixed(1)} ms\n`,
    );
  }
} finally {
  await stopPostgres();
}
process.exit(failed ? 1 : 0);
