// Measures the cost of webhooks: 1,000 endpoints and 10,000 changes a minute, compared with the same imports while all webhooks
// are paused. Reports how long changes take to arrive, the server's CPU time and memory, and the response times of the public
// port under a steady load.
//   npm run bench -- webhooks [--endpoints 1000] [--changes 10000] [--seconds 60] [--rounds 2]
//
// The receiver and the importer have their own processes. In reality, they run on other machines, so they have a low priority.

import { constants, setPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { printTimestamp, type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import { printTransaction } from '@offerbook/wire/transaction.ts';
import { newUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import { COMMAND_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
import { getRequest } from '../service/test/chaos/traffic/http-connection.ts';
import { forMs, openLoop } from '../service/test/chaos/traffic/loops.ts';
import { transaction } from '../service/test/support/fixtures.ts';
import { putDocuments } from '../service/test/support/put-documents.ts';
import { withFolder } from './folder.ts';
import { SMALL } from './large-catalogue.ts';
import { BOTH_CORES, prepareCatalogue, startOfferbook } from './offerbook.ts';
import { megabytes, milliseconds, percentile, table, whole } from './table.ts';

const { values: options } = parseArgs({
  options: {
    endpoints: { type: 'string', default: '1000' },
    changes: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '2' },
    /** Used internally, for the two other processes. */
    receive: { type: 'boolean', default: false },
    import: { type: 'string' },
  },
});
const ENDPOINTS = Number(options.endpoints);
const SECONDS = Number(options.seconds);
const ENDPOINTS_PER_ORG = Math.min(10, ENDPOINTS / 10);
/** Organisations that an import changes each second. */
const ORGS_PER_S = 10;
const REQUESTS_PER_S = 100;
const CONNECTIONS_MAX = 10;
const ROWS_PER_ORG = 200;

if (options.receive) receive();
else if (options.import !== undefined) await importChanges(options.import);
else await withFolder(measure);

/** Accepts webhooks. GET returns the ages of the rows received since the last GET. */
function receive(): void {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  let ages: number[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method === 'GET') {
        const received = ages;
        ages = [];
        return Response.json(received);
      }
      type Body = { data: { transactions: { updatedAt: Timestamp }[] } };
      const { data } = (await request.json()) as Body;
      for (const { updatedAt } of data.transactions) ages.push(Date.now() - timestampMs(updatedAt));
      return new Response(null, { status: 204 });
    },
  });
  process.stdout.write(`${server.port}\n`);
}

/** Changes transactions of some organisations every second, and prints the number of changes. */
async function importChanges(databaseUrl: string): Promise<void> {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const stores = await openStores(databaseUrl, COMMAND_OPTIONS);
  const orgs = (await stores.organisations.list()).map(({ id }) => ({
    orgId: id,
    ids: Array.from({ length: ROWS_PER_ORG }, newUuid),
  }));
  const perOrg = Math.round(Number(options.changes) / 60 / ORGS_PER_S);
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
        return { id, document };
      });
      await putDocuments(writer, documents);
    });
    changes += perOrg;
    await Bun.sleep(Math.max(0, 1_000 / ORGS_PER_S - (performance.now() - beganMs)));
  }
  await stores.close();
  process.stdout.write(String(changes));
}

async function measure(folder: string): Promise<void> {
  const spawnSelf = (...args: string[]) =>
    Bun.spawn([process.execPath, import.meta.path, ...args], { stdout: 'pipe', stderr: 'inherit' });
  const receiver = spawnSelf('--receive');
  try {
    const { value } = await receiver.stdout.getReader().read();
    const receiverUrl = `http://127.0.0.1:${Number(new TextDecoder().decode(value))}/`;
    const { databaseUrl, token } = await prepareCatalogue(folder, SMALL);
    const stores = await openStores(databaseUrl, COMMAND_OPTIONS);
    const webhooks: Uuid[] = [];
    for (let count = 0; webhooks.length < ENDPOINTS; count++) {
      const org = await stores.organisations.create(`org ${count}`);
      for (let i = 0; i < ENDPOINTS_PER_ORG; i++)
        webhooks.push((await stores.webhooks.create(org?.id ?? 0, receiverUrl, Date.now())).id);
    }
    const args = ['--webhook-networks', '127.0.0.1/32'];
    await using server = await startOfferbook(folder, databaseUrl, { args, cores: BOTH_CORES });
    const rows: string[][] = [];
    for (let round = 0; round < 2 * Number(options.rounds); round++) {
      const isSending = round % 2 === 1;
      for (const id of webhooks) await (isSending ? stores.webhooks.resume(id) : stores.webhooks.pause(id));
      while (isSending && (await stores.webhooks.behind()).length > 0) await Bun.sleep(500);
      await Bun.sleep(3_000);
      await fetch(receiverUrl);
      const readCpu = () => Promise.all([server.mainThreadCpuSeconds(), server.cpuSeconds()]);
      const cpuBefore = await readCpu();
      const importer = spawnSelf(
        ...['--import', databaseUrl, '--changes', options.changes, '--seconds', options.seconds],
      );
      const requests = [getRequest('/v1/cashback-offers/', token)];
      const traffic = { url: server.url, requests, isOver: forMs(SECONDS * 1_000) };
      const tally = await openLoop(traffic, REQUESTS_PER_S, CONNECTIONS_MAX);
      const changes = (await new Response(importer.stdout).json()) as number;
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
        ...[0.5, 0.99].map((share) => `${tally.percentileMs(share).toFixed(2)} ms`),
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
  }
}
