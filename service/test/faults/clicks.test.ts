// A short version of the click test in `npm run test:faults`.

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { clickUnderFaults } from '../chaos/traffic/clicks.ts';
import { temporaryFolder } from '../support/databases.ts';
import { postgresUrl, startPostgres } from '../support/postgres-server.ts';
import { SmallDisk } from '../support/small-disk.ts';

const NOTHING = { answered: expect.any(Number), lost: 0, twice: 0 };

test('no click is lost when servers on SQLite are killed', async () => {
  const databaseUrl = `sqlite:${join(temporaryFolder(), 'clicks.db')}`;
  expect(await clickUnderFaults({ databaseUrl, kills: 3, clicksEach: 100 })).toEqual(NOTHING);
});

test('no click is lost when PostgreSQL is stopped and restarted and servers are killed', async () => {
  const server = await startPostgres();
  try {
    const outcome = await clickUnderFaults({
      databaseUrl: postgresUrl(server.port, 'postgres'),
      kills: 2,
      clicksEach: 50,
      async takeAway() {
        await server.process.stop();
        return () => server.process.start();
      },
    });
    expect(outcome).toEqual(NOTHING);
  } finally {
    await server.process.stop();
  }
});

test.if(await SmallDisk.canMount())(
  "no click is lost when an SQLite database's disk is full for a while",
  async () => {
    await using disk = await SmallDisk.mount(8);
    const outcome = await clickUnderFaults({
      databaseUrl: `sqlite:${join(disk.folder, 'clicks.db')}`,
      kills: 2,
      clicksEach: 200,
      async takeAway() {
        const free = disk.fill();
        return async () => free();
      },
    });
    expect(outcome).toEqual(NOTHING);
  },
);
