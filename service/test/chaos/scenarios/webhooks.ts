// Imports change transactions all the time, endpoints fail in every way, and the processes that send webhooks are stopped, killed,
// frozen and cut off from their lease. At the end, the copy of every endpoint must equal the database.

import { join } from 'node:path';
import type { Random } from '@offerbook/sandbox/random.ts';
import { printTimestamp, type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { NO_WATERMARK_MS } from '../../../src/domain/webhook.ts';
import { CREATE_OPTIONS, openStores } from '../../../src/storage/open-stores.ts';
import { idOf, readAllTransactions } from '../../storage/open-test-stores.ts';
import { putDocuments } from '../../support/put-documents.ts';
import { until } from '../../support/until.ts';
import { type Behaviour, type Delivery, type Overtaken, Receiver } from '../../webhooks/receiver.ts';
import { createOrganisation } from '../cluster/seed.ts';
import { Actors } from '../report/actors.ts';
import type { Run } from '../report/run.ts';
import { BOTH, type Scenario } from '../scenario.ts';
import { LEASE_MS, TIMEOUT_MS } from '../traffic/sender-process.ts';

const ORGANISATIONS = 3;
/** A replay has 20 pages. */
const ROWS = 2_000;
const FAULT_SHARE = 0.3;
/** Mean time between two imports of an organisation. */
const PAUSE_MS = 50;
const SETTLE_MAX_MS = 120_000;
/** With fewer, hardly any fault would meet a request. */
const REQUESTS_MIN = 20;

export const webhooks: Scenario = {
  name: 'webhooks',
  summary: 'Stops, kills and freezes senders while endpoints fail; no change may be lost or overwritten.',
  databases: BOTH,
  minutes: 10,
  mustHappen: ['imports', 'requests: good', 'faults of endpoints'],
  short: { minutes: 5 / 60 },
  async run(run) {
    const url = await run.database.create();
    const stores = await openStores(url, CREATE_OPTIONS);
    run.defer(() => stores.close());
    const endpoints: Endpoint[] = [];
    const orgIds: number[] = [];
    for (let i = 0; i < ORGANISATIONS; i++) {
      const { id } = await createOrganisation(stores, `org ${i}`);
      orgIds.push(id);
      for (const name of ['a', 'b'])
        endpoints.push(await newEndpoint(run, stores, id, run.random('endpoint', i, name)));
    }
    const freezes: Freeze[] = [];
    const senders = ['sender 1', 'sender 2'].map((name) => startSender(run, url, name, freezes));
    for (const { receiver } of endpoints)
      receiver.isDelayed = (delivery) => freezes.some((freeze) => isDelayedBy(freeze, delivery));

    // The time begins after the start of the senders, which may take longer than a short run.
    const isEnough = () => (run.counts['requests: good'] ?? 0) >= REQUESTS_MIN;
    const actors = new Actors(performance.now() + run.minutes * 60_000, isEnough);
    for (const [index, orgId] of orgIds.entries()) {
      const random = run.random('importer', index);
      const step = async () => {
        await change(stores, orgId, index, random);
        run.count('imports');
      };
      actors.start(step, () => random.unit() * 2 * PAUSE_MS);
    }
    const random = run.random('saboteur');
    actors.start(
      async () => {
        const [name, sabotage] = random.pick(Object.entries(random.pick(senders)));
        run.count(`senders: ${name}`);
        await sabotage();
      },
      () => (1 + random.unit()) * 3 * PAUSE_MS,
    );
    /** Makes retries due. */
    const hurry = async () => {
      for (const { id, failures } of await stores.webhooks.list())
        if (failures > 0) await stores.webhooks.resume(id);
    };
    actors.start(hurry, () => PAUSE_MS);
    await actors.untilOver();

    for (const endpoint of endpoints) await endpoint.end();
    const findBehind = async () => {
      await hurry();
      return (await stores.webhooks.list()).filter(({ behindSinceMs }) => behindSinceMs !== null);
    };
    const isSettled = await until(findBehind, ({ length }) => length === 0, SETTLE_MAX_MS).catch(String);
    if (typeof isSettled === 'string') run.violation('BEHIND', isSettled);
    for (const { orgId, receiver } of endpoints) {
      const rows = await readAllTransactions(stores, orgId);
      const lost = rows.filter(({ id, document }) => JSON.stringify(receiver.copy.get(id)) !== document);
      if (lost.length > 0) run.violation('LOST', `${lost.length} of ${rows.length} rows of ${receiver.url}`);
      for (const each of receiver.overtaken)
        if (!receiver.isDelayed(each.delivery)) run.violation('OLDER', describe(each, freezes));
        else run.count('rows older because a sender was frozen', each.rows);
      run.count('requests delayed by a freeze', receiver.deliveries.filter(receiver.isDelayed).length);
      if (receiver.concurrent > 1) run.violation('OVERLAP', `${receiver.concurrent} requests at once`);
      run.count('rows in the database', rows.length);
      run.count('rows repeated', receiver.repeated);
    }
  },
};

interface Endpoint {
  readonly orgId: number;
  readonly receiver: Receiver;
  /** Ends the faults. */
  end(): Promise<void>;
}

const FAULTS = ['error', 'hang', 'redirect', 'close', 'cut', 'slow', 'forget', 'lost response'] as const;

async function newEndpoint(run: Run, stores: Stores, orgId: number, random: Random): Promise<Endpoint> {
  const replays: Promise<unknown>[] = [];
  let faultShare = FAULT_SHARE;
  /** The endpoint has stored every change up to this one. */
  let throughMs = NO_WATERMARK_MS;
  const next = () => (random.unit() < faultShare ? random.pick(FAULTS) : undefined);
  let fault = next();
  const behaviour: Behaviour = async ({ page }) => {
    const current = fault;
    fault = next();
    run.count(`requests: ${current ?? 'good'}`);
    if (current !== undefined) run.count('faults of endpoints');
    // Just below the time limit of a request.
    if (current === 'hang') await Bun.sleep(TIMEOUT_MS - 50);
    if (current === 'slow') await Bun.sleep(TIMEOUT_MS / 3);
    if (current === 'error') return { status: 500, stores: false };
    if (current === 'redirect') return { status: 307, stores: false };
    if (current === 'close' || current === 'hang') return { status: 'close', stores: false };
    if (current === 'forget') {
      // The endpoint responds before it stores the page, and crashes. It asks the operator for a replay.
      run.count('replays');
      // The page may have begun inside a stamp. A replay from a millisecond earlier cannot be mistaken for the next page.
      throughMs = Math.max(NO_WATERMARK_MS, throughMs - 1);
      replays.push(stores.webhooks.replay(id, random.unit() < 0.1 ? NO_WATERMARK_MS : throughMs));
      return { status: 200, stores: false };
    }
    // After a forgotten page, the following pages may arrive before the replay. They leave a gap.
    if (watermarkMs(page.after) <= throughMs) throughMs = watermarkMs(page.completeThrough);
    return { status: current === 'lost response' ? 'close' : 204, stores: true };
  };
  const receiver = run.use(new Receiver(behaviour));
  receiver.isCut = () => {
    const isCut = fault === 'cut';
    if (isCut) {
      run.count('requests: cut');
      fault = next();
    }
    return isCut;
  };
  const { id } = await stores.webhooks.create(orgId, receiver.url, NO_WATERMARK_MS);
  return {
    ...{ orgId, receiver },
    async end() {
      [faultShare, fault] = [0, undefined];
      await Promise.all(replays);
    },
  };
}

function watermarkMs(watermark: Timestamp | null): number {
  return watermark === null ? NO_WATERMARK_MS : timestampMs(watermark);
}

async function change(stores: Stores, orgId: number, orgIndex: number, random: Random): Promise<void> {
  const size = random.unit() < 0.1 ? 250 : random.whole(1, 5);
  const ids = new Set(
    Array.from({ length: size }, () => idOf(10_000 * orgIndex + random.whole(0, ROWS - 1))),
  );
  await stores.transactions.write(orgId, async (writer) => {
    const updatedAt = printTimestamp(writer.stampMs);
    const rows = [...ids].map((id: Uuid) => ({
      id,
      document: JSON.stringify({ id, updatedAt, text: `${random.whole(0, 1e9)}` }),
    }));
    await putDocuments(writer, rows);
  });
}

/** Longer than a lease, so that the other sender takes over. */
const TAKEOVER_MS = LEASE_MS + 300;
/** A request ends at most this long after it was begun, without the time of a freeze. */
const REQUEST_MAX_MS = TIMEOUT_MS + 1_000;
const PROGRAM = join(import.meta.dir, '..', 'traffic', 'sender-process.ts');

interface Freeze {
  readonly sender: string;
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * True for a request that a sender began before a freeze and sent after it, which docs/webhooks.md allows. Between the check of
 * the lease and the write to the socket, the sender cannot notice that time has passed.
 */
function isDelayedBy({ startMs, endMs }: Freeze, { madeAtMs, arrivedAtMs }: Delivery): boolean {
  const isBegun = startMs - REQUEST_MAX_MS <= madeAtMs && madeAtMs <= startMs;
  return isBegun && endMs <= arrivedAtMs && arrivedAtMs <= endMs + REQUEST_MAX_MS;
}

/** A frozen sender makes no messages, so the times show which sender sent a page during a freeze. */
function describe({ delivery, by, rows }: Overtaken, freezes: readonly Freeze[]): string {
  const time = (ms: number) => new Date(ms).toISOString().slice(11, 23);
  const sent = ({ madeAtMs, arrivedAtMs }: Delivery) =>
    `made ${time(madeAtMs)}, arrived ${time(arrivedAtMs)}`;
  const frozen = freezes
    .filter(({ endMs }) => endMs >= delivery.madeAtMs - TAKEOVER_MS)
    .map(({ sender, startMs, endMs }) => `${sender} ${time(startMs)}–${time(endMs)}`);
  return `${rows} rows of a page (${sent(delivery)}) after newer ones (${sent(by)}); frozen: ${frozen.join(', ')}`;
}

/** Starts a process that sends webhooks. Returns the ways to disturb it, each of which returns when it can send again. */
function startSender(
  run: Run,
  databaseUrl: string,
  name: string,
  freezes: Freeze[],
): Readonly<Record<string, () => Promise<void>>> {
  const errors: Promise<string>[] = [];
  const start = () => {
    const child = Bun.spawn([process.execPath, PROGRAM, databaseUrl], {
      stdio: ['ignore', 'pipe', 'inherit'],
      ipc: () => {},
    });
    errors.push(new Response(child.stdout).text());
    return child;
  };
  let child = start();
  const stop = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await child.exited;
  };
  run.defer(async () => {
    await stop('SIGKILL');
    for (const line of (await Promise.all(errors)).join('').split('\n'))
      if (line !== '') run.violation('ERROR', line);
  });
  return {
    async restarted() {
      await stop('SIGTERM');
      child = start();
    },
    async killed() {
      await stop('SIGKILL');
      await Bun.sleep(TAKEOVER_MS);
      child = start();
    },
    async frozen() {
      child.kill('SIGSTOP');
      const startMs = Date.now();
      await Bun.sleep(TAKEOVER_MS);
      child.kill('SIGCONT');
      freezes.push({ sender: name, startMs, endMs: Date.now() });
    },
    async 'cut off from the lease'() {
      child.send(true);
      await Bun.sleep(TAKEOVER_MS);
      child.send(false);
    },
  };
}
