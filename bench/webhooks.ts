// Measures the cost of webhooks: 1,000 endpoints and 10,000 changes a minute, compared with the same imports while all webhooks
// are paused. Reports how long changes take to arrive, the server's CPU time and memory, and the response times of the public
// port under a steady load.
//   npm run bench:webhooks -- [--endpoints 1000] [--changes 10000] [--seconds 60]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printTimestamp, type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import { printTransaction } from '@offerbook/wire/transaction.ts';
import { newUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../service/src/domain/stores.ts';
import { CREATE_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
import { transaction } from '../service/test/support/fixtures.ts';
import { putDocuments } from '../service/test/support/put-documents.ts';
import { fillCatalogue } from './fill.ts';
import { makeRetailers, SMALL } from './large-catalogue.ts';
import { bearer, issueTokens, startOfferbook } from './offerbook.ts';
import { percentile } from './percentile.ts';
import { megabytes, milliseconds, table, whole } from './table.ts';

const { values: options } = parseArgs({
  options: {
    endpoints: { type: 'string', default: '1000' },
    changes: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '60' },
    receive: { type: 'boolean', default: false },
  },
});
const ENDPOINTS = Number(options.endpoints);
const CHANGES_PER_S = Number(options.changes) / 60;
const SECONDS = Number(options.seconds);
const ENDPOINTS_PER_ORG = 10;
/** Organisations that an import changes each second. */
const ORGS_PER_S = 10;
const REQUESTS_PER_S = 100;
const ROWS_PER_ORG = 200;

if (options.receive) receive();
else await measure();

/** Runs in a process of its own: accepts every webhook, and returns the ages of all received rows at /ages. */
function receive(): void {
  let ages: number[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method === 'GET') {
        const taken = ages;
        ages = [];
        return Response.json(taken);
      }
      type Body = { data: { transactions: { updatedAt: Timestamp }[] } };
      const { data } = (await request.json()) as Body;
      for (const { updatedAt } of data.transactions) ages.push(Date.now() - timestampMs(updatedAt));
      return new Response(null, { status: 204 });
    },
  });
  process.stdout.write(`${server.port}\n`);
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'offerbook-webhooks-'));
  const receiver = Bun.spawn([process.execPath, Bun.main, '--receive'], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  try {
    const { value } = await receiver.stdout.getReader().read();
    const receiverUrl = `http://127.0.0.1:${Number(new TextDecoder().decode(value))}/`;
    const databaseUrl = `sqlite:${join(folder, 'webhooks.db')}`;
    const stores = await openStores(databaseUrl, CREATE_OPTIONS);
    await fillCatalogue(stores, makeRetailers(SMALL, Date.now()));
    const orgIds: number[] = [];
    const webhooks: Uuid[] = [];
    for (let i = 0; i < ENDPOINTS / ENDPOINTS_PER_ORG; i++) {
      const org = await stores.organisations.create(`org ${i}`);
      if (org === undefined) throw new Error('the database is not new');
      orgIds.push(org.id);
      for (let j = 0; j < ENDPOINTS_PER_ORG; j++)
        webhooks.push((await stores.webhooks.create(org.id, receiverUrl, Date.now())).id);
    }
    const { public: token } = await issueTokens(stores, orgIds[0] ?? 0);
    const idsOf = new Map(orgIds.map((orgId) => [orgId, Array.from({ length: ROWS_PER_ORG }, newUuid)]));
    const rows: string[][] = [];
    for (const isSending of [false, true]) {
      for (const id of webhooks) await (isSending ? stores.webhooks.resume(id) : stores.webhooks.pause(id));
      await using server = await startOfferbook(folder, databaseUrl, {
        args: ['--webhook-networks', '127.0.0.1/32'],
        cores: '0,1',
      });
      // The last server was killed, so its lease has to expire before the webhooks catch up.
      while (isSending && (await stores.webhooks.behind()).length > 0) await Bun.sleep(500);
      await Bun.sleep(3_000);
      await fetch(receiverUrl);
      const cpuBefore = await server.cpuSeconds();
      const until = performance.now() + SECONDS * 1_000;
      const [changes, latencies] = await Promise.all([
        importUntil(until, stores, idsOf),
        requestUntil(until, `${server.url}/v1/cashback-offers/`, token),
      ]);
      await Bun.sleep(3_000);
      const cpu = (await server.cpuSeconds()) - cpuBefore;
      const ages = (await (await fetch(receiverUrl)).json()) as number[];
      rows.push([
        isSending ? 'sending' : 'paused',
        whole(changes),
        whole(ages.length),
        ...(ages.length === 0 ? ['', ''] : [0.5, 0.99].map((share) => milliseconds(percentile(ages, share)))),
        `${((100 * cpu) / SECONDS).toFixed(1)} %`,
        megabytes((await server.memoryBytes()).now),
        ...[0.5, 0.99].map((share) => `${percentile(latencies, share).toFixed(2)} ms`),
      ]);
    }
    const head = [
      ...['webhooks', 'changes', 'rows received', 'age on arrival, median', 'p99'],
      ...['CPU', 'memory', 'public port, median', 'p99'],
    ];
    process.stdout.write(`${table(head, rows)}\n`);
    await stores.close();
  } finally {
    receiver.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Changes transactions of some organisations every second. Returns the number of changes. */
async function importUntil(
  untilMs: number,
  stores: Stores,
  idsOf: ReadonlyMap<number, readonly Uuid[]>,
): Promise<number> {
  const orgs = [...idsOf];
  const perOrg = Math.round(CHANGES_PER_S / ORGS_PER_S);
  let changes = 0;
  for (let turn = 0; performance.now() < untilMs; turn++) {
    const [orgId, ids] = orgs[turn % orgs.length] ?? [0, []];
    await stores.transactions.write(orgId, async (writer) => {
      const updatedAt = printTimestamp(writer.stampMs);
      const documents = Array.from({ length: perOrg }, (_, i) => {
        const id = ids[(turn + i) % ids.length] ?? newUuid();
        const document = printTransaction({ ...transaction(turn), id }, updatedAt);
        return { id, updatedAtMs: writer.stampMs, document };
      });
      await putDocuments(writer, documents);
      await writer.advanceClock(writer.stampMs);
    });
    changes += perOrg;
    await Bun.sleep(1_000 / ORGS_PER_S);
  }
  return changes;
}

/** Sends requests at a steady rate. Returns their response times in milliseconds. */
async function requestUntil(untilMs: number, url: string, token: string): Promise<number[]> {
  const latencies: number[] = [];
  while (performance.now() < untilMs) {
    const beganMs = performance.now();
    await (await fetch(url, { headers: bearer(token) })).arrayBuffer();
    const lastedMs = performance.now() - beganMs;
    latencies.push(lastedMs);
    await Bun.sleep(Math.max(0, 1_000 / REQUESTS_PER_S - lastedMs));
  }
  return latencies;
}
