// Measures the cost of webhooks: 1,000 endpoints and 10,000 changes a minute, compared with the same imports while all webhooks
// are paused. Reports how long changes take to arrive, the server's CPU time and memory, and the response times of the public
// port under a steady load. With --broken, that number of endpoints hang, drip bytes or redirect.
//   npm run bench:webhooks -- [--endpoints 1000] [--broken 0] [--changes 10000] [--seconds 60] [--rounds 2]
//
// The receiver, the importer and the load each have their own process. In reality, they run on other machines, so the receiver
// and the importer have a low priority here.

import { mkdtempSync, rmSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printTimestamp, type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import { printTransaction } from '@offerbook/wire/transaction.ts';
import { newUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import { COMMAND_OPTIONS, CREATE_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
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
    broken: { type: 'string', default: '0' },
    changes: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '2' },
    receive: { type: 'boolean', default: false },
    import: { type: 'string' },
    request: { type: 'string' },
  },
});
const ENDPOINTS = Number(options.endpoints);
const BROKEN = Number(options.broken);
const CHANGES_PER_S = Number(options.changes) / 60;
const SECONDS = Number(options.seconds);
const ENDPOINTS_PER_ORG = Math.min(10, ENDPOINTS / 10);
/** Organisations that an import changes each second. */
const ORGS_PER_S = 10;
const REQUESTS_PER_S = 100;
const ROWS_PER_ORG = 200;
const RATES = ['--changes', options.changes, '--seconds', options.seconds];
const BROKEN_KINDS = ['hang', 'drip', 'redirect'];

if (options.receive) receive();
else if (options.import !== undefined) await importChanges(options.import);
else if (options.request !== undefined) await request(options.request);
else await measure();

/** Accepts webhooks, unless the path names a fault. Returns the ages of all received rows at /ages. */
function receive(): void {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  let ages: number[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      if (request.method === 'GET') {
        const taken = ages;
        ages = [];
        return Response.json(taken);
      }
      const { pathname } = new URL(request.url);
      if (pathname === '/hang') return new Promise<Response>(() => {});
      if (pathname === '/redirect') return new Response(null, { status: 302, headers: { Location: '/' } });
      if (pathname === '/drip') return new Response(drip());
      type Body = { data: { transactions: { updatedAt: Timestamp }[] } };
      const { data } = (await request.json()) as Body;
      for (const { updatedAt } of data.transactions) ages.push(Date.now() - timestampMs(updatedAt));
      return new Response(null, { status: 204 });
    },
  });
  process.stdout.write(`${server.port}\n`);
}

function drip(): ReadableStream {
  return new ReadableStream({
    async pull(controller) {
      await Bun.sleep(500);
      controller.enqueue(new Uint8Array(1));
    },
  });
}

/** Sends requests at a steady rate, and prints their response times in milliseconds. The token comes from stdin. */
async function request(url: string): Promise<void> {
  const headers = bearer((await Bun.stdin.text()).trim());
  const latencies: number[] = [];
  const untilMs = performance.now() + SECONDS * 1_000;
  while (performance.now() < untilMs) {
    const beganMs = performance.now();
    await (await fetch(url, { headers })).arrayBuffer();
    const lastedMs = performance.now() - beganMs;
    latencies.push(lastedMs);
    await Bun.sleep(Math.max(0, 1_000 / REQUESTS_PER_S - lastedMs));
  }
  process.stdout.write(JSON.stringify(latencies));
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'offerbook-webhooks-'));
  const receiver = spawnSelf('--receive');
  try {
    const { value } = await receiver.stdout.getReader().read();
    const receiverUrl = `http://127.0.0.1:${Number(new TextDecoder().decode(value))}/`;
    const databaseUrl = `sqlite:${join(folder, 'webhooks.db')}`;
    const stores = await openStores(databaseUrl, CREATE_OPTIONS);
    await fillCatalogue(stores, makeRetailers(SMALL, Date.now()));
    const orgIds: number[] = [];
    const webhooks: Uuid[] = [];
    while (webhooks.length < ENDPOINTS) {
      const org = await stores.organisations.create(`org ${orgIds.length}`);
      if (org === undefined) throw new Error('the database is not new');
      orgIds.push(org.id);
      for (let i = 0; i < ENDPOINTS_PER_ORG; i++) {
        // The broken endpoints are spread over all organisations.
        const isBroken = (webhooks.length * BROKEN) % ENDPOINTS < BROKEN;
        const path = isBroken ? BROKEN_KINDS[webhooks.length % BROKEN_KINDS.length] : '';
        webhooks.push((await stores.webhooks.create(org.id, receiverUrl + path, Date.now())).id);
      }
    }
    const { public: token } = await issueTokens(stores, orgIds[0] ?? 0);
    await using server = await startOfferbook(folder, databaseUrl, {
      args: ['--webhook-networks', '127.0.0.1/32'],
      cores: '0,1',
    });
    const rows: string[][] = [];
    for (let round = 0; round < 2 * Number(options.rounds); round++) {
      const isSending = round % 2 === 1;
      for (const id of webhooks) await (isSending ? stores.webhooks.resume(id) : stores.webhooks.pause(id));
      while (isSending && (await stores.webhooks.behind()).some(({ failures }) => failures === 0))
        await Bun.sleep(500);
      await Bun.sleep(3_000);
      await fetch(receiverUrl);
      const readCpu = () => Promise.all([server.mainThreadCpuSeconds(), server.cpuSeconds()]);
      const cpuBefore = await readCpu();
      const load = spawnSelf('--request', `${server.url}/v1/cashback-offers/`, ...RATES);
      load.stdin.write(token);
      load.stdin.end();
      const importer = spawnSelf('--import', databaseUrl, ...RATES);
      const changes = (await new Response(importer.stdout).json()) as number;
      const latencies = (await new Response(load.stdout).json()) as number[];
      await Bun.sleep(3_000);
      const cpu = await readCpu();
      const ages = (await (await fetch(receiverUrl)).json()) as number[];
      rows.push([
        isSending ? 'sending' : 'paused',
        whole(changes),
        whole(ages.length),
        ...(ages.length === 0 ? ['', ''] : [0.5, 0.99].map((share) => milliseconds(percentile(ages, share)))),
        ...cpu.map((seconds, i) => `${((100 * (seconds - (cpuBefore[i] ?? 0))) / SECONDS).toFixed(1)} %`),
        megabytes((await server.memoryBytes()).now),
        ...[0.5, 0.99].map((share) => `${percentile(latencies, share).toFixed(2)} ms`),
      ]);
    }
    const head = [
      ...['webhooks', 'changes', 'rows received', 'age on arrival, median', 'p99'],
      ...['CPU, serving thread', 'CPU, all threads', 'memory', 'public port, median', 'p99'],
    ];
    process.stdout.write(`${table(head, rows)}\n`);
    await stores.close();
  } finally {
    receiver.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

function spawnSelf(...args: string[]) {
  return Bun.spawn([process.execPath, Bun.main, ...args], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
}

/** Changes transactions of some organisations every second, and prints the number of changes. */
async function importChanges(databaseUrl: string): Promise<void> {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const stores = await openStores(databaseUrl, COMMAND_OPTIONS);
  const orgs = (await stores.organisations.list()).map(({ id }) => ({
    orgId: id,
    ids: Array.from({ length: ROWS_PER_ORG }, newUuid),
  }));
  const perOrg = Math.round(CHANGES_PER_S / ORGS_PER_S);
  const untilMs = performance.now() + SECONDS * 1_000;
  let changes = 0;
  for (let turn = 0; performance.now() < untilMs; turn++) {
    const { orgId = 0, ids = [] } = orgs[turn % orgs.length] ?? {};
    const beganMs = performance.now();
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
    await Bun.sleep(Math.max(0, 1_000 / ORGS_PER_S - (performance.now() - beganMs)));
  }
  await stores.close();
  process.stdout.write(String(changes));
}
