// What the parts of the load scenario share: a node with data, and checks of its responses.

import { until } from '../../support/until.ts';
import { Node } from '../cluster/node.ts';
import { seed } from '../cluster/seed.ts';
import type { Run } from '../report/run.ts';
import { getRequest } from '../traffic/http-connection.ts';
import { openLoop } from '../traffic/loops.ts';
import { Tally } from '../traffic/tally.ts';

export const MEMORY_MAX_MB = 500;
const LIVEZ_PER_SECOND = 20;
const RECOVERY_REQUESTS = 50;

export type LoadedNode = Awaited<ReturnType<typeof startLoaded>>;

/** Starts a node, which ends with the stack, on a new database with enough data to fill a page. */
export async function startLoaded(run: Run, stack: AsyncDisposableStack, args: readonly string[] = []) {
  const seeded = await seed(await run.database.create());
  return {
    ...seeded,
    node: stack.use(await Node.start(seeded.databaseUrl, { args, discardsLog: true })),
    /** Requests for a page of the catalogue and a page of transactions. */
    catalogue: getRequest('/v1/cashback-offers/', seeded.tokens.public),
    transactions: getRequest('/v1/transactions/', seeded.tokens.private),
  };
}

/** Requests /livez again and again, one request at a time, and records the peak memory. */
export function watchNode(node: Node) {
  const livez = new Tally();
  let [memoryMb, isOver] = [0, false];
  const isStopped = () => {
    memoryMb = Math.max(memoryMb, node.memoryMb);
    return isOver;
  };
  const traffic = { url: node.adminUrl, requests: [getRequest('/livez')], isOver: isStopped, tally: livez };
  const watching = openLoop(traffic, LIVEZ_PER_SECOND, 1);
  return {
    livez,
    async stop() {
      isOver = true;
      await watching;
      return { livez, memoryMb };
    },
  };
}

export function requireLivez(run: Run, part: string, livez: Tally): void {
  const isLive = livez.failed === 0 && livez.count(200) === livez.answered && livez.answered > 0;
  run.require(`${part}: /livez responds`, isLive, { ...livez.statuses, ...livez.failures });
}

/** Waits until consecutive requests of both kinds have succeeded. */
export async function untilAsUsual({ node, tokens }: LoadedNode): Promise<void> {
  await until(async () => {
    for (let inARow = 0; inARow < RECOVERY_REQUESTS; inARow += 2) {
      const { status: catalogue } = await node.get('/v1/cashback-offers/', tokens.public);
      const { status: transactions } = await node.get('/v1/transactions/', tokens.private);
      if (catalogue !== 200 || transactions !== 200) return false;
    }
    return true;
  });
}
