// A follower under adverse conditions: the service is killed and restarted, rows keep changing, and the follower crashes. In
// the end, its copy equals the service's data.

import { expect, test } from 'bun:test';
import { transaction } from '../../service/test/support/fixtures.ts';
import { OfferbookClient, type Transaction } from '../src/index.ts';
import { ServiceProcess } from './support/service-process.ts';

const ROWS = 60;
const ROUNDS = 2;

/** The copy and the checkpoint, which survive a crash like rows in a database. */
class Copy {
  readonly rows = new Map<string, Transaction>();
  checkpoint: string | undefined;
  crashes = 0;

  async follow(client: OfferbookClient, signal: AbortSignal): Promise<void> {
    let consumed = 0;
    const settings = {
      checkpoint: this.checkpoint,
      onCheckpoint: (checkpoint: string) => {
        this.checkpoint = checkpoint;
      },
      intervalMs: 100,
      limit: 7,
      signal,
    };
    for await (const change of client.followTransactions(settings)) {
      consumed += 1;
      // Crash in the first runs, on the second page and before the change is stored.
      if (this.crashes < 5 && consumed > 10) throw new Error('crash');
      this.rows.set(change.id, change);
    }
  }

  async followThroughCrashes(client: OfferbookClient, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.follow(client, signal).catch((error: Error) => {
        if (error.message !== 'crash') throw error;
        this.crashes += 1;
      });
    }
  }
}

test('a follower does not miss any change across kills, restarts and crashes', async () => {
  await using service = await ServiceProcess.start();
  const token = await service.token('private');
  // Outages are short here, so retry often instead of backing off.
  const client = new OfferbookClient({ baseUrl: service.url, token, timeoutMs: 2_000, random: () => 0.05 });
  const copy = new Copy();
  const stop = new AbortController();
  const following = copy.followThroughCrashes(client, stop.signal);

  await service.importTransactions(Array.from({ length: ROWS }, (_, index) => transaction(index + 1)));
  for (let round = 1; round <= ROUNDS; round++) {
    await service.kill();
    // Imports need only the database, so changes continue while the service is down.
    const changed = Array.from({ length: ROWS / 2 }, (_, index) =>
      transaction(index * round + 1, { cashback: round }),
    );
    await service.importTransactions([...new Map(changed.map((row) => [row.id, row])).values()]);
    await service.start();
    await service.importTransactions([transaction(ROWS + round)]);
  }

  const truth = await client.transactions().toArray({ max: 1_000 });
  const newest =
    truth
      .map(({ updatedAt }) => updatedAt)
      .sort()
      .at(-1) ?? '';
  // Between two walks, the position is a timestamp.
  while (!(copy.checkpoint?.startsWith('2') && copy.checkpoint >= newest)) await Bun.sleep(10);
  stop.abort();
  await following;

  const rows = [...copy.rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  expect(rows).toEqual(truth);
  expect(copy.crashes).toBe(5);
});
