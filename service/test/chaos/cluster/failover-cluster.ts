// Two nodes on a primary and its standby, one with a multi-host URL and one with an address that follows the primary. The primary
// can be replaced by the standby again and again.

import type { Random } from '@offerbook/sandbox/random.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { importTransactions } from '../../../src/importer/import-transactions.ts';
import { transaction } from '../../support/fixtures.ts';
import { removePostgres } from '../../support/postgres-replica.ts';
import { postgresUrl } from '../../support/postgres-server.ts';
import { ndjson } from '../../support/test-node.ts';
import { until } from '../../support/until.ts';
import { getOrganisation, idsOf, ORGANISATIONS } from '../model/world.ts';
import type { Run } from '../report/run.ts';
import { prepareClicks } from '../traffic/clicks.ts';
import { getRequest } from '../traffic/http-connection.ts';
import { openLoop } from '../traffic/loops.ts';
import { Tally } from '../traffic/tally.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { Node } from './node.ts';
import { Pair } from './pair.ts';
import type { PrimaryFault } from './primary-faults.ts';
import { createOrganisation, issueToken, withStores } from './seed.ts';

export const MODES = ['synchronous', 'replica', 'asynchronous'] as const;
export type Mode = (typeof MODES)[number];

/** Requests per second until a node serves a page again. Each may wait for two seconds. */
const PROBES_PER_SECOND = 4;
const PROBES_MAX = 20;
/** A node may use the old primary for this long after a promotion, if both accept writes. */
const SPLIT_MAX_MS = 2_000;

/** Starts the cluster, which ends with the stack, with transactions of all organisations. */
export async function openFailoverCluster(run: Run, stack: AsyncDisposableStack, mode: Mode) {
  const pair = stack.use(await Pair.start());
  const database = await pair.newDatabase();
  if (mode === 'synchronous') await pair.makeSynchronous();
  const proxy = stack.use(await startFaultProxy(pair.primary.port));
  const urls = [pair.url(database), postgresUrl(proxy.port, database)];
  const onPrimary = <Result>(work: (stores: Stores) => Promise<Result>) =>
    withStores(postgresUrl(pair.primary.port, database), work);
  const env = mode === 'replica' ? { OFFERBOOK_REPLICA_URL: pair.url(database) } : {};
  const clickingOrg = await prepareClicks(postgresUrl(pair.primary.port, database));
  const nodes = await Promise.all(urls.map(async (url) => stack.use(await Node.start(url, { env }))));
  const token = await onPrimary(async (stores) => {
    for (const name of ORGANISATIONS) {
      const org = await createOrganisation(stores, name);
      // A copy contradicts the loss of a change, but not the loss of a new transaction.
      const rows = ndjson(idsOf(name).map((id) => transaction(0, { id })));
      await importTransactions(stores, org, sourceFrom(rows), systemClock, {});
    }
    return issueToken(stores, await getOrganisation(stores, ORGANISATIONS[0]));
  });
  const requests = [getRequest('/v1/transactions/?limit=1', token)];
  const untilServed = ({ url }: Node) => {
    const tally = new Tally();
    const isOver = () => tally.count(200) > 0;
    void openLoop({ url, requests, isOver, tally }, PROBES_PER_SECOND, PROBES_MAX);
    return until(isOver);
  };
  let splitUntilMs = 0;
  return {
    ...{ pair, database, urls, nodes, clickingOrg, onPrimary },
    /** True while a node may use the old primary, because it still accepts writes. */
    isSplit: () => performance.now() < splitUntilMs,
    /** Replaces the primary by a new standby. Returns the time from the promotion until the slower node answers. */
    async failOver({ strike, splits }: PrimaryFault, random: Random): Promise<number> {
      let servedAfterMs = Promise.resolve(0);
      const promote = async () => {
        await pair.promote();
        proxy.moveTo(pair.standby.port);
        const promotedAtMs = performance.now();
        if (splits) splitUntilMs = run.isBusy ? Number.POSITIVE_INFINITY : promotedAtMs + SPLIT_MAX_MS;
        servedAfterMs = Promise.all(nodes.map(untilServed)).then(() => performance.now() - promotedAtMs);
      };
      await strike({ pair, random, promote });
      const firstPageMs = await servedAfterMs;
      const old = pair.primary;
      await removePostgres(old);
      splitUntilMs = 0;
      await pair.replacePrimary(old.port);
      if (mode === 'synchronous') await pair.makeSynchronous();
      return firstPageMs;
    },
  };
}
