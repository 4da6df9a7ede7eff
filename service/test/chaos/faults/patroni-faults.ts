// The faults of a Patroni cluster, each with its start and its end.

import type { Random } from '@offerbook/sandbox/random.ts';
import type { Member } from '../cluster/patroni/member.ts';
import type { PatroniCluster } from '../cluster/patroni/patroni-cluster.ts';

/** Time for which two servers accept writes, or would if Patroni did not act. */
const SPLIT_MS = 3_000;
/**
 * Longer than the servers' timeouts, but shorter than wal_sender_timeout, after which the cluster would no longer be
 * synchronous.
 */
const UNREPLICATED_MS = 5_000;

export interface Strike {
  readonly cluster: PatroniCluster;
  readonly leader: Member;
  readonly random: Random;
  /** Waits until another server has been promoted. */
  untilPromoted(): Promise<Member>;
}

export interface Fault {
  readonly name: string;
  /** True if changes may be lost that an asynchronous primary has committed. */
  readonly loses: boolean;
  /** Causes a promotion, then ends the fault. When this function returns, Patroni runs on all servers. */
  strike(strike: Strike): Promise<void>;
}

export const FAULTS: readonly Fault[] = [
  {
    name: 'killed',
    loses: true,
    async strike(strike) {
      await killLeader(strike);
      await strike.untilPromoted();
      strike.leader.start();
    },
  },
  {
    name: 'frozen',
    loses: true,
    async strike(strike) {
      const wake = strike.leader.freeze();
      try {
        await strike.cluster.expireLeader();
        await strike.untilPromoted();
        await Bun.sleep(strike.random.whole(0, SPLIT_MS));
      } finally {
        wake();
      }
    },
  },
  {
    name: 'cut off',
    loses: true,
    async strike({ leader, untilPromoted }) {
      leader.etcd.fallSilent();
      try {
        // The leader gives up when its lease ends. Ending the lease earlier would make two primaries of one.
        await untilPromoted();
      } finally {
        leader.etcd.comeBack();
      }
    },
  },
  {
    name: 'switchover',
    loses: false,
    async strike({ cluster, leader, untilPromoted }) {
      await cluster.switchover(leader);
      await untilPromoted();
    },
  },
  {
    name: 'unfenced',
    loses: true,
    async strike(strike) {
      const { leader, random } = strike;
      await killLeader(strike);
      const promoted = await strike.untilPromoted();
      await leader.startUnfenced();
      // Pools look for the primary again when they lose their connections.
      for (let ends = 0; ends < 3; ends++) {
        await Bun.sleep(random.whole(200, SPLIT_MS / 2));
        await promoted.endConnections();
      }
      await leader.kill();
      leader.start();
    },
  },
  {
    name: 'loss',
    loses: true,
    async strike(strike) {
      const { cluster } = strike;
      for (const { replication } of cluster.members) replication.fallSilent();
      try {
        await Bun.sleep(UNREPLICATED_MS);
        await killLeader(strike);
      } finally {
        for (const { replication } of cluster.members) replication.comeBack();
      }
      await strike.untilPromoted();
      strike.leader.start();
    },
  },
];

async function killLeader({ cluster, leader }: Strike): Promise<void> {
  await leader.kill();
  await cluster.expireLeader();
}
