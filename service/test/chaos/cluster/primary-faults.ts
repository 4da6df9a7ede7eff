// Faults after which the standby replaces the primary.

import type { Random } from '@offerbook/sandbox/random.ts';
import { query } from '../../support/postgres-replica.ts';
import { killPostgres } from './machine.ts';
import { freeze, type Pair } from './pair.ts';

/** Longest time for which two servers accept writes. */
const SPLIT_MS = 3_000;
const UNREPLICATED_MS = 2_000;

export interface PrimaryFault {
  readonly name: string;
  /** True if changes may be lost that an asynchronous primary has committed. */
  readonly loses: boolean;
  /** True if the old primary accepts writes after the promotion. */
  readonly splits?: true;
  /** Disturbs the primary and promotes the standby. Afterwards, the old primary is not frozen. */
  strike(strike: { readonly pair: Pair; readonly random: Random; promote(): Promise<void> }): Promise<void>;
}

export const PRIMARY_FAULTS: readonly PrimaryFault[] = [
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
    splits: true,
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
      const endConnections = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'scene%'`;
      for (let ends = 0; ends < 3; ends++) {
        await Bun.sleep(random.whole(200, SPLIT_MS / 2));
        await query(pair.standby, endConnections);
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
