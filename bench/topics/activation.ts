// Measures clicks: throughput compared with a server that only sends the same redirect, and latency at 1,000
// clicks per second and during a large import. Every click is from a different user and is committed before the response.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '@offerbook/sandbox/random.ts';
import { CREATE_OPTIONS, openStores } from '../../service/src/storage/open-stores.ts';
import { COMMAND } from '../../service/test/support/command.ts';
import { newPostgresDatabase, stopPostgres } from '../../service/test/support/postgres-server.ts';
import { fillCatalogue } from '../fill.ts';
import { makeRetailers, SMALL } from '../large-catalogue.ts';
import { runLoad, Series } from '../load.ts';
import { startOfferbook } from '../offerbook.ts';
import { startBare } from '../peers.ts';
import { percentile } from '../percentile.ts';
import { writeHistories } from '../random-transactions.ts';
import { milliseconds, ratio, table, whole } from '../table.ts';
import type { Finding, Report, Run } from '../topic.ts';

const NETWORK = 'https://network.example/click?shop=17&sub=';
const USERS = 200_000;
const RATE_PER_S = 1_000;
const RATIO_MIN = 0.3;
const P99_MAX_MS = 20;
const IMPORTED_ROWS = 1_000_000;
const RATE_DURING_IMPORT_PER_S = 200;
const P99_DURING_IMPORT_MAX_MS = 50;
/** More connections than for pages, because clicks that arrive together share a commit. */
const CONNECTIONS = 128;
const WARM_UP_S = 3;

export async function activation(run: Run): Promise<Report> {
  const databases = {
    SQLite: `sqlite:${join(run.folder, 'clicks.db')}`,
    PostgreSQL: await newPostgresDatabase(),
  };
  // The first organisation has 80 % of the rows.
  await writeHistories(run.folder, IMPORTED_ROWS / 0.8, Date.now(), new Random('clicks', 1));
  const findings: Finding[] = [];
  const rows: string[][] = [];
  for (const [name, databaseUrl] of Object.entries(databases)) {
    const { clicks, bare, pacedP99Ms, duringImportP99Ms } = await measure(run, databaseUrl);
    const share = clicks.timesAsFastAs(bare);
    rows.push([
      name,
      whole(clicks.requestsPerS),
      whole(bare.requestsPerS),
      ratio(share),
      milliseconds(clicks.p99Ms),
      milliseconds(pacedP99Ms),
      milliseconds(duringImportP99Ms),
    ]);
    findings.push(
      {
        work: `clicks on ${name}, recorded and redirected, on one core`,
        target: `at least ${RATIO_MIN} times the throughput of a bare Bun.serve that sends the same redirect`,
        measured: `${ratio(share)} (${whole(clicks.requestsPerS)} per second${clicks.failed === 0 ? '' : `, ${clicks.failed} failed`})`,
        met: share >= RATIO_MIN && clicks.failed === 0,
      },
      {
        work: `${whole(RATE_PER_S)} clicks per second on ${name}`,
        target: `p99 under ${P99_MAX_MS} ms`,
        measured: milliseconds(pacedP99Ms),
        met: pacedP99Ms < P99_MAX_MS,
      },
      {
        work: `${RATE_DURING_IMPORT_PER_S} clicks per second on ${name}, while ${whole(IMPORTED_ROWS)} transactions are imported`,
        target: `p99 under ${P99_DURING_IMPORT_MAX_MS} ms`,
        measured: milliseconds(duringImportP99Ms),
        met: duringImportP99Ms < P99_DURING_IMPORT_MAX_MS,
      },
    );
  }
  await stopPostgres();
  const header = [
    'database',
    'clicks/s',
    'bare redirects/s',
    'ratio',
    `p99 with ${CONNECTIONS} connections`,
    `p99 at ${whole(RATE_PER_S)}/s`,
    `p99 during an import, at ${RATE_DURING_IMPORT_PER_S}/s`,
  ];
  return { findings, details: [table(header, rows)] };
}

async function measure({ folder, seconds, repeats }: Run, databaseUrl: string) {
  const { paths, orgId, dealId } = await prepare(folder, databaseUrl);
  const [clicks, bare] = [new Series(), new Series()];
  await using server = await startOfferbook(folder, databaseUrl, {
    args: ['--rate-limit-activation', '0', '--rate-limit-activation-org', '0'],
  });
  await using peer = await startBare(folder, 'redirect', `${NETWORK}Vb89jzL001biPkmMApa4tT`);
  const load = (url: string) => ({
    url,
    headers: {},
    file: ['paths', paths] as const,
    connections: CONNECTIONS,
  });
  for (const { url } of [server, peer]) await runLoad(load(url), WARM_UP_S);
  for (let round = 0; round < repeats; round++) {
    bare.measured.push(await runLoad(load(peer.url), seconds));
    clicks.measured.push(await runLoad(load(server.url), seconds));
  }
  const clickUrl = (user: string) => server.url + clickPath(dealId, orgId, user);
  const paced = await sendPaced(
    (number) => clickUrl(`paced-${number}`),
    RATE_PER_S,
    Bun.sleep(3_000 * Math.max(1, seconds)),
  );
  const duringImport = await sendPaced(
    (number) => clickUrl(`during-${number}`),
    RATE_DURING_IMPORT_PER_S,
    importTransactions(folder, databaseUrl),
  );
  return {
    clicks,
    bare,
    pacedP99Ms: percentile(paced, 0.99),
    duringImportP99Ms: percentile(duringImport, 0.99),
  };
}

async function importTransactions(folder: string, databaseUrl: string): Promise<void> {
  const path = join(folder, 'org-1.ndjson');
  const child = Bun.spawn(
    [COMMAND, 'import', 'transactions', path, '--org', 'bench', '--database', databaseUrl],
    { stdout: 'ignore', stderr: 'inherit' },
  );
  if ((await child.exited) !== 0) throw new Error(`the import of ${path} failed`);
}

async function prepare(folder: string, databaseUrl: string) {
  const stores = await openStores(databaseUrl, CREATE_OPTIONS);
  const retailers = [...makeRetailers(SMALL, Date.now())];
  await fillCatalogue(stores, retailers);
  const org = await stores.organisations.create('bench');
  await stores.links.write((writer) =>
    writer.put(retailers.map(({ id }) => ({ id, kind: 'retailer', template: `${NETWORK}{click}` }))),
  );
  await stores.close();
  const [orgId, dealId] = [org?.publicId ?? '', retailers[0]?.cashbackOffers[0]?.id ?? ''];
  const paths = join(folder, 'clicks.txt');
  const lines = Array.from({ length: USERS }, (_, user) => clickPath(dealId, orgId, `user-${user}`));
  writeFileSync(paths, `${lines.join('\n')}\n`);
  return { paths, orgId, dealId };
}

function clickPath(dealId: string, orgId: string, user: string): string {
  return `/v1/cashback-offers/${dealId}/activate/?orgId=${orgId}&passbackUid=${user}`;
}

/** Sends requests at a fixed rate, without waiting for earlier ones, until `done` settles; returns their durations. */
async function sendPaced(
  urlOf: (number: number) => string,
  ratePerS: number,
  done: Promise<void>,
): Promise<number[]> {
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
  return tookMs;
}
