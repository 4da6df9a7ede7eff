// Servers are killed while users click, and the database is unavailable for a while: PostgreSQL is killed, or the disk of SQLite
// is full. In the end, every redirect that contained a click id has exactly one record.

import { join } from 'node:path';
import { ServerProcess } from '../../support/command.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { SmallDisk } from '../../support/small-disk.ts';
import { openMachine } from '../cluster/machine.ts';
import type { Run } from '../report/run.ts';
import { BOTH, type Scenario } from '../scenario.ts';
import { Clickers, prepareClicks, untilRecorded } from '../traffic/clicks.ts';

const DISK_MB = 32;
/** Far longer than a server needs to move all clicks from the spool. */
const PATIENCE_MS = 60_000;

interface Clicked {
  readonly databaseUrl: string;
  /** Makes the database unavailable; returns a function that makes it available again. */
  readonly takeAway?: () => Promise<() => Promise<void>>;
}

export const clicks: Scenario = {
  name: 'clicks',
  summary: 'Kills servers and takes the database away while users click; no click may be lost.',
  databases: BOTH,
  minutes: 10,
  options: {
    kills: { type: 'string', default: '50', help: 'number of kills' },
    clicks: { type: 'string', default: '200', help: 'clicks between two kills' },
  },
  mustHappen: ['clicks', 'kills'],
  short: { minutes: 10, values: { kills: '2', clicks: '100' } },
  async run(run) {
    const { databaseUrl, takeAway } = await open(run);
    const env = {
      OFFERBOOK_DATABASE_URL: databaseUrl,
      OFFERBOOK_SPOOL: temporaryFolder(),
      // Thousands of users share one address, and the disk is small.
      OFFERBOOK_RATE_LIMIT_ACTIVATION: '0',
      OFFERBOOK_RATE_LIMIT_ACTIVATION_ORG: '0',
      OFFERBOOK_DISK_RESERVE: '0',
    };
    const clickers = new Clickers(await prepareClicks(databaseUrl));
    for (let kill = 0; kill < run.number('kills') && !run.isOver; kill++) {
      await using server = await ServerProcess.start(['--log-level', 'info'], { env });
      const clicking = clickers.click(server.url);
      await clickers.untilAnswered(run.number('clicks'));
      if (kill === 0 && takeAway !== undefined) {
        const bringBack = await takeAway();
        await clickers.untilAnswered(run.number('clicks'));
        await bringBack();
        run.count('outages of the database');
      }
      await server.stop('SIGKILL');
      await clicking;
      run.count('kills');
    }
    // The next server moves the clicks left in the spool.
    await using _ = await ServerProcess.start([], { env });
    const { answered } = clickers;
    const recorded = await untilRecorded(databaseUrl, answered, PATIENCE_MS);
    run.count('clicks', answered.length);
    const lost = answered.filter((click) => !recorded.has(click)).length;
    run.require('no click is lost', lost === 0, `${lost} were lost`);
    const twice = answered.length - new Set(answered).size;
    run.require('every click has its own id', twice === 0, `${twice} ids were given twice`);
  },
};

async function open(run: Run): Promise<Clicked> {
  if (run.database.name === 'SQLite') {
    if (!(await SmallDisk.canMount())) return { databaseUrl: await run.database.create() };
    const disk = run.use(await SmallDisk.mount(DISK_MB));
    const takeAway = async () => {
      const free = disk.fill();
      return async () => free();
    };
    return { databaseUrl: `sqlite:${join(disk.folder, 'clicks.db')}`, takeAway };
  }
  const machine = run.use(await openMachine('PostgreSQL'));
  const takeAway = async () => {
    await machine.kill();
    return () => machine.start();
  };
  return { databaseUrl: machine.databaseUrl, takeAway };
}
