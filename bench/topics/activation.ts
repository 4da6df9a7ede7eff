// Measures clicks: throughput compared with a server that only sends the same redirect, and latency at 1,000
// clicks per second and during a large import. Every click is from a different user and is committed before the response.

import { Random } from '@offerbook/sandbox/random.ts';
import { CREATE_OPTIONS, openStores } from '../../service/src/storage/open-stores.ts';
import { getRequest } from '../../service/test/chaos/traffic/http-connection.ts';
import { openLoop } from '../../service/test/chaos/traffic/loops.ts';
import { COMMAND } from '../../service/test/support/command.ts';
import { fillCatalogue } from '../fill.ts';
import { newDatabase } from '../folder.ts';
import { makeRetailers, SMALL } from '../large-catalogue.ts';
import { compare, pathsFile } from '../load.ts';
import { startOfferbook } from '../offerbook.ts';
import { startBare } from '../peers.ts';
import { writeHistory } from '../random-transactions.ts';
import { milliseconds, ratio, whole } from '../table.ts';
import { atMost, type Finding, type Run } from '../topic.ts';

const NETWORK = 'https://network.example/click?shop=17&sub=';
/** Enough that no user clicks twice within ten seconds, which would count as one click. */
const USERS = 200_000;
const RATE_PER_S = 1_000;
const RATIO_MIN = 0.3;
const P99_MAX_MS = 20;
const IMPORTED_ROWS = 1_000_000;
const RATE_DURING_IMPORT_PER_S = 200;
const P99_DURING_IMPORT_MAX_MS = 50;
/** More connections than for pages, because clicks that arrive together share a commit. */
const CONNECTIONS = 128;

export async function activation(run: Run): Promise<Finding[]> {
  const history = await writeHistory(run.folder, IMPORTED_ROWS, new Random('clicks', 1));
  return [
    ...(await measure(run, 'SQLite', await newDatabase('sqlite', run.folder), history)),
    ...(await measure(run, 'PostgreSQL', await newDatabase('postgres', run.folder), history)),
  ];
}

async function measure(run: Run, name: string, databaseUrl: string, history: string): Promise<Finding[]> {
  const { folder } = run;
  const { orgId, dealId } = await prepare(databaseUrl);
  await using server = await startOfferbook(folder, databaseUrl, {
    args: ['--rate-limit-activation', '0', '--rate-limit-activation-org', '0'],
  });
  await using peer = await startBare(folder, 'redirect', `${NETWORK}Vb89jzL001biPkmMApa4tT`);
  const clickPath = () =>
    `/v1/cashback-offers/${dealId}/activate/?orgId=${orgId}&passbackUid=user-${crypto.randomUUID()}`;
  const paths = pathsFile(folder, 'clicks', clickPath, USERS);
  const load = ({ url }: { readonly url: string }) => ({ url, headers: {}, paths, connections: CONNECTIONS });
  const { clicks, bare } = await compare(
    `redirects, ${name}`,
    { clicks: load(server), bare: load(peer) },
    run,
  );
  const requests = Array.from({ length: USERS }, () => getRequest(clickPath()));
  /** Clicks at this rate until the work is done. Returns the p99 of the durations. */
  const paceMs = async (perSecond: number, work: Promise<unknown>) => {
    let isDone = false;
    const ended = work.finally(() => {
      isDone = true;
    });
    const traffic = { url: server.url, requests, isOver: () => isDone };
    const tally = await openLoop(traffic, perSecond, CONNECTIONS);
    await ended;
    const failed = tally.answered - tally.count(302) + tally.failed + tally.unsent;
    if (failed > 0) throw new Error(`${failed} clicks failed: ${JSON.stringify(tally.statuses)}`);
    return tally.percentileMs(0.99);
  };
  const pacedMs = await paceMs(RATE_PER_S, Bun.sleep(3_000 * Math.max(1, run.seconds)));
  const importing =
    Bun.$`${COMMAND} import transactions ${history} --org bench --database ${databaseUrl}`.quiet();
  const duringImportMs = await paceMs(RATE_DURING_IMPORT_PER_S, importing);
  const share = clicks.timesAsFastAs(bare);
  const [paced, during] = [
    `${whole(RATE_PER_S)} clicks per second on ${name}`,
    `${RATE_DURING_IMPORT_PER_S} clicks per second on ${name}, while ${whole(IMPORTED_ROWS)} transactions are imported`,
  ];
  return [
    {
      work: `clicks on ${name}, recorded and redirected, on one core`,
      target: `at least ${RATIO_MIN} × a bare Bun.serve with the same redirect`,
      measured: `${ratio(share)} (${whole(clicks.requestsPerS)} per second${clicks.failed === 0 ? '' : `, ${clicks.failed} failed`})`,
      met: share >= RATIO_MIN && clicks.failed === 0,
    },
    atMost(paced, 'p99 under', pacedMs, P99_MAX_MS, milliseconds),
    atMost(during, 'p99 under', duringImportMs, P99_DURING_IMPORT_MAX_MS, milliseconds),
  ];
}

async function prepare(databaseUrl: string) {
  const stores = await openStores(databaseUrl, CREATE_OPTIONS);
  const retailers = [...makeRetailers(SMALL, Date.now())];
  await fillCatalogue(stores, retailers);
  const org = await stores.organisations.create('bench');
  await stores.links.write((writer) =>
    writer.put(retailers.map(({ id }) => ({ id, kind: 'retailer', template: `${NETWORK}{click}` }))),
  );
  await stores.close();
  return { orgId: org?.publicId ?? '', dealId: retailers[0]?.cashbackOffers[0]?.id ?? '' };
}
