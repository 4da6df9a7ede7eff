// The first pull from a source, ignoring the network's rate limit. Arguments: the source file and the database.

import { readPullSource } from '../service/src/cli/commands/data/pull-sources.ts';
import { systemClock } from '../service/src/domain/clock.ts';
import { pullSource } from '../service/src/pull/pull-source.ts';
import { COMMAND_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';

const [sourcePath = '', databaseUrl = ''] = process.argv.slice(2);
process.env.T = 'secret';
const stores = await openStores(databaseUrl, COMMAND_OPTIONS);
const [org] = await stores.organisations.list();
const source = await readPullSource(sourcePath, {});
const options = {
  only: 'transactions' as const,
  org,
  startMs: systemClock() - 396 * 86_400_000,
  by: 'bench',
  version: '0',
};
const context = { stores, clock: systemClock, sleep: async () => {}, random: Math.random };
const reports = await pullSource(source, options, context);
const errors = reports.flatMap(({ error }) => error ?? []);
if (errors.length > 0) throw new Error(errors.join('\n'));
await stores.close();
