// Repeated failovers under load: the primary is killed, frozen, stopped or cut off, and its standby is promoted.

import { query } from '../../support/postgres-replica.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';
import { killPostgres } from '../cluster/machine.ts';
import { freeze } from '../cluster/pair.ts';
import type { Scenario } from '../scenario.ts';
import { type Fault, MODES, openStage } from './failover-stage.ts';

const FIRST_PAGE_WITHIN_S = 5;
/** Longest time for which two servers accept writes. */
const SPLIT_MS = 3_000;
const UNREPLICATED_MS = 2_000;

const FAULTS: readonly Fault[] = [
  {
    name: 'killed',
    loses: true,
    async strike({ pair, promote }) {
      await killPostgres(pair.primary);
      await promote();
    },
  },
  {
    name: 'frozen',
    loses: true,
    async strike({ pair, promote, random }) {
      const wake = freeze(pair.primary);
      await promote();
      await Bun.sleep(random.whole(0, SPLIT_MS));
      wake();
    },
  },
  {
    name: 'two primaries',
    loses: true,
    splits: true,
    async strike({ pair, promote, random }) {
      await promote();
      await Bun.sleep(random.whole(0, SPLIT_MS));
      await pair.primary.process.stop();
    },
  },
  {
    name: 'switchover',
    loses: false,
    async strike({ pair, promote }) {
      await pair.primary.process.stop();
      await promote();
    },
  },
  {
    name: 'unfenced',
    loses: true,
    async strike({ pair, promote, random }) {
      await killPostgres(pair.primary);
      await promote();
      await pair.primary.process.start();
      // Pools look for the primary again when they lose their connections.
      for (let ends = 0; ends < 3; ends++) {
        await Bun.sleep(random.whole(200, SPLIT_MS / 2));
        await endConnections(pair.standby);
      }
    },
  },
  {
    name: 'loss',
    loses: true,
    async strike({ pair, promote }) {
      await pair.cut();
      await Bun.sleep(UNREPLICATED_MS);
      await killPostgres(pair.primary);
      await promote();
    },
  },
];

export const failover: Scenario = {
  name: 'failover',
  summary: 'Promotes a standby again and again under load; no acknowledged change may be lost unnoticed.',
  databases: [],
  minutes: 60,
  options: {
    rounds: { type: 'string', default: '1', help: 'for each mode and fault' },
    mode: { type: 'string', multiple: true, help: `${MODES.join(', ')}; all if absent` },
    fault: {
      type: 'string',
      multiple: true,
      help: `${FAULTS.map(({ name }) => name).join(', ')}; all if absent`,
    },
    busy: { type: 'boolean', help: 'report times without checking their limits' },
  },
  mustHappen: ['failovers', 'imports', 'clicks'],
  short: { minutes: 5, values: { mode: 'asynchronous', fault: 'loss', busy: true } },
  async run(run) {
    const faults = run.choose('fault', FAULTS, ({ name }) => name);
    for (const mode of run.choose('mode', MODES, (name) => name)) {
      await using stage = await openStage(run, mode);
      const all = faults.flatMap((fault) => Array.from({ length: run.number('rounds') }, () => fault));
      for (const fault of run.random(mode).shuffled(all)) {
        if (run.isOver) break;
        const failover = `${mode} ${fault.name}`;
        const { reports, ...figures } = await stage.play(fault);
        run.count('failovers');
        run.count('imports', figures.imports);
        run.count('clicks', figures.clicks);
        const row = { failover, ...figures, reports: reports.length };
        run.rows.push(row);
        run.print(JSON.stringify(row));
        const messages = reports.map((line) => (JSON.parse(line) as { msg: string }).msg);
        for (const message of new Set(messages)) run.print(`  reported: ${message}`);
        const firstPage = figures['first 200, s'];
        if (!run.flag('busy'))
          run.require(`${failover}: first 200 within 5 s`, firstPage <= FIRST_PAGE_WITHIN_S, firstPage);
      }
    }
  },
};

/** Ends all connections of Offerbook to this server. */
async function endConnections(server: PostgresServer): Promise<void> {
  const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'scene%'`;
  await query(server, sql);
}
