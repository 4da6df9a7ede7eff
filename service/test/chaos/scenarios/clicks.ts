// Servers are killed while users click, and the database is unavailable for a while: PostgreSQL is killed, or the disk of SQLite
// is full. In the end, every redirect that contained a click id has exactly one record.

import { join } from 'node:path';
import { SmallDisk } from '../../support/small-disk.ts';
import { openMachine } from '../cluster/machine.ts';
import { Node } from '../cluster/node.ts';
import { withStores } from '../cluster/seed.ts';
import type { Run } from '../report/run.ts';
import type { Scenario } from '../scenario.ts';
import { newClickers, prepareClicks, untilRecorded } from '../traffic/clicks.ts';

/** Enough for 500,000 clicks. */
const DISK_MB = 128;
/** Far longer than a server needs to move all clicks from the spool. */
const PATIENCE_MS = 60_000;

export const clicks: Scenario = {
  name: 'clicks',
  guarantee: 'no click is lost when servers are killed and the database is unavailable for a while',
  minutes: 10,
  options: {
    kills: { type: 'string', default: '50', help: 'number of kills' },
    clicks: { type: 'string', default: '200', help: 'clicks between two kills' },
  },
  mustHappen: ['clicks', 'kills'],
  short: { minutes: 10, values: { kills: '2', clicks: '100' } },
  async run(run) {
    const { databaseUrl, takeAway } = await open(run);
    const clickers = newClickers(await prepareClicks(databaseUrl));
    const node = run.use(await Node.start(databaseUrl));
    for (let kill = 0; kill < run.number('kills') && !run.isOver; kill++) {
      const clicking = clickers.click(node.url);
      await clickers.untilAnswered(run.number('clicks'));
      if (kill === 0 && takeAway !== undefined) {
        const bringBack = await takeAway();
        await clickers.untilAnswered(run.number('clicks'));
        await bringBack();
        run.count('outages of the database');
      }
      await node.stop('SIGKILL');
      await clicking;
      run.count('kills');
      // The next process moves the clicks left in the spool.
      await node.start();
    }
    const { answered } = clickers;
    const recorded = await withStores(databaseUrl, (stores) => untilRecorded(stores, answered, PATIENCE_MS));
    run.count('clicks', answered.length);
    const lost = answered.filter((click) => !recorded.has(click)).length;
    run.require('no click is lost', lost === 0, `${lost} were lost`);
    const twice = answered.length - new Set(answered).size;
    run.require('every click has its own id', twice === 0, `${twice} ids were given twice`);
  },
};

/** `takeAway` makes the database unavailable, and returns a function that makes it available again. */
async function open(run: Run) {
  if (run.database.name === 'SQLite') {
    if (!(await SmallDisk.canMount())) return { databaseUrl: await run.database.create() };
    const disk = run.use(await SmallDisk.mount(DISK_MB));
    return { databaseUrl: `sqlite:${join(disk.folder, 'clicks.db')}`, takeAway: async () => disk.fill() };
  }
  const machine = run.use(await openMachine('PostgreSQL'));
  const takeAway = async () => {
    await machine.kill();
    return () => machine.start();
  };
  return { databaseUrl: machine.databaseUrl, takeAway };
}
