// Processes that are killed with SIGKILL while they pull a catalogue. `npm run test:pull` does this hundreds of times, with
// every network on both databases.

import { expect, test } from 'bun:test';
import { DATABASES } from '../support/databases.ts';
import { runPullNemesis } from './nemesis.ts';

const [DATABASE] = DATABASES;
if (DATABASE === undefined) throw new Error('there is no database to test with');

test('a kill leaves the last complete catalogue, and the next pull stores what the network offers', async () => {
  const report = await runPullNemesis({
    ...{ databaseUrl: await DATABASE.create(), network: 'impact', seed: 7, kills: 2 },
    ...{ historyDays: 1, isCatalogueOnly: true },
  });
  expect(report.killedInCatalogue).toBeGreaterThan(0);
  expect(report).toMatchObject({ lost: 0, extra: 0, wrong: 0, examples: [] });
  expect(report).toMatchObject({ torn: 0, notOffered: 0, notWithdrawn: 0 });
}, 120_000);
