// A scene whose second node reads from a replica, and pollers that request pages from both nodes while the replica is paused
// and resumed.

import { Random } from '@offerbook/sandbox/random.ts';
import type { ServeSettings } from '../../../src/config.ts';
import { newTokenText } from '../../../src/domain/access-token.ts';
import { query, untilCaughtUp } from '../../support/postgres-replica.ts';
import { type PostgresServer, postgresUrl } from '../../support/postgres-server.ts';
import type { TestNode } from '../../support/test-node.ts';
import type { FetchPage, Poller } from '../traffic/pollers.ts';
import { FollowerPoller, GreatestStampPoller, OpenWalkPoller, TilingPoller } from '../traffic/pollers.ts';
import { Scene } from './scene.ts';

const ROWS = 40;

export interface ReplicaRun {
  readonly primary: PostgresServer;
  readonly replica: PostgresServer;
  readonly steps: number;
  readonly seed: number;
}

export interface ReplicaReport {
  readonly walks: number;
  readonly pages: number;
  /** Number of times that the replica was paused. */
  readonly held: number;
  /** Descriptions of the rows whose latest version a poller does not have. */
  readonly lost: readonly string[];
  readonly violations: readonly string[];
}

export const holdReplay = (replica: PostgresServer) => query(replica, 'SELECT pg_wal_replay_pause()');
export const releaseReplay = (replica: PostgresServer) => query(replica, 'SELECT pg_wal_replay_resume()');

/** The first node reads from the primary, the second from the replica. */
export async function openReplicaScene(
  primary: PostgresServer,
  replica: PostgresServer,
  database: string,
  settings: Partial<ServeSettings> = {},
): Promise<Scene> {
  const replicaUrl = postgresUrl(replica.port, database);
  const scene = await Scene.open(postgresUrl(primary.port, database), { ...settings, replicaUrl });
  await untilReplicaIsRead(scene.nodes[1]);
  return scene;
}

/** Waits until the node's last log line about its replica reports that the replica is used. */
export async function untilReplicaIsRead(node: TestNode): Promise<void> {
  const said = () => node.logLines.map((line) => JSON.parse(line) as { msg?: string });
  const last = () => said().findLast(({ msg }) => msg?.includes('replica'))?.msg;
  while (last() !== 'transactions are read from the replica') await Bun.sleep(10);
}

export async function pollWithReplica(scene: Scene, run: ReplicaRun): Promise<ReplicaReport> {
  const random = new Random(run.seed, 'replica');
  const counts = { walks: 0, pages: 0, held: 0 };
  const pages = (tokens: readonly (0 | 1)[] = [0, 1]): FetchPage => {
    const fetchPage = scene.pages([(path) => scene.node(random.pick([0, 1]), random.pick(tokens))(path)]);
    return (page) => {
      counts.pages += 1;
      return fetchPage(page);
    };
  };
  const documented: Poller[] = [
    new OpenWalkPoller(pages()),
    new TilingPoller(pages(), random),
    new FollowerPoller(pages(), newTokenText('private')),
  ];
  const greatest = new GreatestStampPoller(pages([0]));
  const pollers = [...documented, greatest];
  const numbers = Array.from({ length: ROWS }, (_, i) => i + 1);
  await scene.change(...numbers);
  for (let step = 0; step < run.steps; step++) {
    if (random.chance(0.25)) {
      await holdReplay(run.replica);
      counts.held += 1;
    } else if (random.chance(0.35)) await releaseReplay(run.replica);
    const limit = random.whole(3, 15);
    // Safe only with a separate token, so that no other poller begins a walk over its windows.
    for (const together of [documented, [greatest]]) {
      await Promise.all([
        scene.change(...random.shuffled(numbers).slice(0, random.whole(1, 6))),
        ...together.map((poller) => poller.walk(limit)),
      ]);
    }
    counts.walks += pollers.length;
  }
  await releaseReplay(run.replica);
  await untilCaughtUp(run.primary, run.replica);
  const lost: string[] = [];
  for (const poller of pollers) {
    // The first walk can continue one that the same token began earlier, which is complete only through an earlier stamp.
    await poller.walk(ROWS);
    await poller.walk(ROWS);
    for (const number of await scene.lostBy(poller))
      lost.push(`${poller.kind} does not have the latest version of ${number}`);
  }
  // Only a primary guarantees that a first page is at least as complete as every earlier page.
  const violations = scene.brokenPromises.filter((what) => !what.startsWith('complete through'));
  return { ...counts, lost, violations };
}
