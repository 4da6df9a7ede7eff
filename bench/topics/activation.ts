// Measures clicks: throughput compared with a server that only sends the same redirect, and latency at 1,000
// clicks per second and during a large import. Every click is from a different user and is committed before the response.

import { join } from 'node:path';
import { Random } from '@offerbook/sandbox/random.ts';
import { CREATE_OPTIONS, openStores } from '../../service/src/storage/open-stores.ts';
import { COMMAND } from '../../service/test/support/command.ts';
import { fillCatalogue } from '../fill.ts';
import { newDatabase } from '../folder.ts';
import { makeRetailers, SMALL } from '../large-catalogue.ts';
import { compare, pathsFile } from '../load.ts';
import { startOfferbook } from '../offerbook.ts';
import { startBare } from '../peers.ts';
import { writeHistories } from '../random-transactions.ts';
import { milliseconds, percentile, ratio, whole } from '../table.ts';
import { type Finding, type Report, type Run, seriesTable } from '../topic.ts';

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

export async function activation(run: Run): Promise<Report> {
  // The first organisation has 80 % of the rows.
  await writeHistories(run.folder, IMPORTED_ROWS / 0.8, new Random('clicks', 1));
  const reports = [
    await measure(run, 'SQLite', await newDatabase('sqlite', run.folder)),
    await measure(run, 'PostgreSQL', await newDatabase('postgres', run.folder)),
  ];
  return {
    findings: reports.flatMap(({ findings }) => findings),
    details: reports.flatMap(({ details }) => details),
  };
}

async function measure(run: Run, name: string, databaseUrl: string): Promise<Report> {
  const { folder } = run;
  const { orgId, dealId } = await prepare(databaseUrl);
  await using server = await startOfferbook(folder, databaseUrl, {
    args: ['--rate-limit-activation', '0', '--rate-limit-activation-org', '0'],
  });
  await using peer = await startBare(folder, 'redirect', `${NETWORK}Vb89jzL001biPkmMApa4tT`);
  const clickPath = (user: string) =>
    `/v1/cashback-offers/${dealId}/activate/?orgId=${orgId}&passbackUid=${user}`;
  const paths = pathsFile(folder, 'clicks', () => clickPath(`user-${crypto.randomUUID()}`), USERS);
  const load = ({ url }: { readonly url: string }) => ({ url, headers: {}, paths, connections: CONNECTIONS });
  const measured = await compare({ clicks: load(server), bare: load(peer) }, run);
  const clickUrl = (user: string) => server.url + clickPath(user);
  const pacedP99Ms = await sendPaced(
    (number) => clickUrl(`paced-${number}`),
    RATE_PER_S,
    Bun.sleep(3_000 * Math.max(1, run.seconds)),
  );
  const duringImportP99Ms = await sendPaced(
    (number) => clickUrl(`during-${number}`),
    RATE_DURING_IMPORT_PER_S,
    importTransactions(folder, databaseUrl),
  );
  const { clicks, bare } = measured;
  const share = clicks.timesAsFastAs(bare);
  const p99Target = (work: string, p99Ms: number, maxMs: number): Finding => ({
    ...{ work, target: `p99 under ${maxMs} ms`, measured: milliseconds(p99Ms), met: p99Ms < maxMs },
  });
  return {
    findings: [
      {
        work: `clicks on ${name}, recorded and redirected, on one core`,
        target: `at least ${RATIO_MIN} × a bare Bun.serve with the same redirect`,
        measured: `${ratio(share)} (${whole(clicks.requestsPerS)} per second${clicks.failed === 0 ? '' : `, ${clicks.failed} failed`})`,
        met: share >= RATIO_MIN && clicks.failed === 0,
      },
      p99Target(`${whole(RATE_PER_S)} clicks per second on ${name}`, pacedP99Ms, P99_MAX_MS),
      p99Target(
        `${RATE_DURING_IMPORT_PER_S} clicks per second on ${name}, while ${whole(IMPORTED_ROWS)} transactions are imported`,
        ...([duringImportP99Ms, P99_DURING_IMPORT_MAX_MS] as const),
      ),
    ],
    details: [seriesTable(`redirects, ${name}`, measured)],
  };
}

async function importTransactions(folder: string, databaseUrl: string): Promise<void> {
  const path = join(folder, 'org-1.ndjson');
  await Bun.$`${COMMAND} import transactions ${path} --org bench --database ${databaseUrl}`.quiet();
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

/** Sends requests at a fixed rate, without waiting for earlier ones, until `done` settles. Returns the p99 of their durations. */
async function sendPaced(
  urlOf: (number: number) => string,
  ratePerS: number,
  done: Promise<void>,
): Promise<number> {
  const tookMs: number[] = [];
  const sent: Promise<void>[] = [];
  const startedMs = performance.now();
  let isDone = false;
  const ended = done.finally(() => {
    isDone = true;
  });
  for (let number = 0; !isDone; ) {
    const due = Math.floor(((performance.now() - startedMs) / 1_000) * ratePerS);
    for (; number <= due; number++) {
      const sentMs = performance.now();
      sent.push(
        fetch(urlOf(number), { redirect: 'manual' }).then((response) => {
          if (response.status !== 302) throw new Error(`a click returned ${response.status}`);
          tookMs.push(performance.now() - sentMs);
        }),
      );
    }
    await Bun.sleep(1);
  }
  await Promise.all([ended, ...sent]);
  return percentile(tookMs, 0.99);
}
