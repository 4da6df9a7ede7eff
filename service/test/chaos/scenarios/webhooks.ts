// Imports change transactions all the time, endpoints fail in every way, and the nodes that send webhooks are stopped, killed and
// frozen. At the end, the copy of every endpoint must equal the database.

import type { Random } from '@offerbook/sandbox/random.ts';
import { printTimestamp, type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import { Logger } from '../../../src/domain/logger.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { NO_WATERMARK_MS } from '../../../src/domain/webhook.ts';
import { CREATE_OPTIONS, openStores } from '../../../src/storage/open-stores.ts';
import { addressRules } from '../../../src/webhooks/address-rules.ts';
import { ATTEMPT_MAX_MS } from '../../../src/webhooks/post.ts';
import { WebhookSender } from '../../../src/webhooks/sender.ts';
import { idOf, readAllTransactions } from '../../storage/open-test-stores.ts';
import { putDocuments } from '../../support/put-documents.ts';
import { until } from '../../support/until.ts';
import { type Behaviour, type Delivery, type Overtaken, Receiver } from '../../webhooks/receiver.ts';
import { Node } from '../cluster/node.ts';
import { createOrganisation } from '../cluster/seed.ts';
import { Actors } from '../report/actors.ts';
import type { Run } from '../report/run.ts';
import { BOTH, type Scenario } from '../scenario.ts';

const ORGANISATIONS = 3;
/** A replay has 20 pages. */
const ROWS = 2_000;
const FAULT_SHARE = 0.3;
const SETTLE_MAX_MS = 120_000;

export const webhooks: Scenario = {
  name: 'webhooks',
  summary: 'Stops, kills and freezes senders while endpoints fail; no change may be lost or overwritten.',
  databases: BOTH,
  minutes: 10,
  options: {
    quick: { type: 'boolean', help: 'two senders in this process with a short lease, not two servers' },
  },
  mustHappen: ['imports', 'requests: good', 'faults of endpoints'],
  short: { minutes: 4 / 60, values: { quick: true } },
  async run(run) {
    const url = await run.database.create();
    let offsetMs = 0;
    const clock = () => Date.now() + offsetMs;
    const open = async (): Promise<Stores> => {
      const stores = await openStores(url, CREATE_OPTIONS, clock);
      run.defer(() => stores.close());
      return stores;
    };
    const stores = await open();
    const isQuick = run.flag('quick');
    const pace = isQuick ? QUICK : SLOW;
    const endpoints: Endpoint[] = [];
    const orgIds: number[] = [];
    for (let i = 0; i < ORGANISATIONS; i++) {
      const { id } = await createOrganisation(stores, `org ${i}`);
      orgIds.push(id);
      for (const name of ['a', 'b'])
        endpoints.push(await newEndpoint(run, stores, id, pace, run.random('endpoint', i, name)));
    }
    const nodes: Sabotages[] = [];
    const freezes: Freeze[] = [];
    for (const name of ['node 1', 'node 2'])
      nodes.push(isQuick ? quickNode(run, await open(), clock) : await serverNode(run, url, name, freezes));
    for (const { receiver } of endpoints)
      receiver.isDelayed = (delivery) => freezes.some((freeze) => isDelayedBy(freeze, delivery));

    const actors = new Actors(performance.now() + run.minutes * 60_000);
    for (const [index, orgId] of orgIds.entries()) {
      const random = run.random('importer', index);
      const step = async () => {
        await change(stores, orgId, index, random);
        run.count('imports');
      };
      actors.start(step, () => random.unit() * 2 * pace.pauseMs);
    }
    const random = run.random('saboteur');
    actors.start(
      async () => {
        const [name, sabotage] = random.pick(Object.entries(random.pick(nodes)));
        run.count(`nodes: ${name}`);
        await sabotage();
      },
      () => (1 + random.unit()) * 3 * pace.pauseMs,
    );
    /** Makes retries due. */
    const hurry = async () => {
      offsetMs += isQuick ? 30_000 : 0;
      if (isQuick) return;
      for (const { id, failures } of await stores.webhooks.list())
        if (failures > 0) await stores.webhooks.resume(id);
    };
    actors.start(hurry, () => pace.pauseMs);
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
        else run.count('rows older because a node was frozen', each.rows);
      run.count('requests delayed by a freeze', receiver.deliveries.filter(receiver.isDelayed).length);
      if (receiver.concurrent > 1) run.violation('OVERLAP', `${receiver.concurrent} requests at once`);
      run.count('rows in the database', rows.length);
      run.count('rows repeated', receiver.repeated);
    }
  },
};

/** `hangMs` is just below the time limit of a request. */
const SLOW = { pauseMs: 700, hangMs: 14_000, slowMs: 2_000 };
const QUICK = { pauseMs: 50, hangMs: 350, slowMs: 120 };

interface Endpoint {
  readonly orgId: number;
  readonly receiver: Receiver;
  /** Ends the faults. */
  end(): Promise<void>;
}

const FAULTS = ['error', 'hang', 'redirect', 'close', 'cut', 'slow', 'forget', 'lost response'] as const;

async function newEndpoint(
  run: Run,
  stores: Stores,
  orgId: number,
  { hangMs, slowMs }: typeof SLOW,
  random: Random,
): Promise<Endpoint> {
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
    if (current === 'hang') await Bun.sleep(hangMs);
    if (current === 'slow') await Bun.sleep(slowMs);
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

/** Ways to disturb a node, by name. Each returns when the node sends webhooks again, or could. */
type Sabotages = Readonly<Record<string, () => Promise<void>>>;

/** Longer than a lease, so that another node takes over. */
const TAKEOVER_MS = 28_000;
/** Errors of a node that was frozen: its thread that sends webhooks, or its database, seems not to respond. */
const CAUSED_BY_FREEZE = /does not respond|has not responded/;
/** For this long after a freeze, the node may log such an error and finish a request that it had begun. */
const THAW_MS = 5_000;

interface Freeze {
  readonly node: string;
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * True for a request that a node began before a freeze and sent after it, which docs/webhooks.md allows. Between the check of the
 * lease and the write to the socket, the node cannot notice that time has passed.
 */
function isDelayedBy({ startMs, endMs }: Freeze, { madeAtMs, arrivedAtMs }: Delivery): boolean {
  const isBegun = startMs - ATTEMPT_MAX_MS <= madeAtMs && madeAtMs <= startMs;
  return isBegun && endMs <= arrivedAtMs && arrivedAtMs <= endMs + THAW_MS;
}

/** A frozen node makes no messages, so the times show which node sent a page during a freeze. */
function describe({ delivery, by, rows }: Overtaken, freezes: readonly Freeze[]): string {
  const time = (ms: number) => new Date(ms).toISOString().slice(11, 23);
  const sent = ({ madeAtMs, arrivedAtMs }: Delivery) =>
    `made ${time(madeAtMs)}, arrived ${time(arrivedAtMs)}`;
  const frozen = freezes
    .filter(({ endMs }) => endMs >= delivery.madeAtMs - TAKEOVER_MS)
    .map(({ node, startMs, endMs }) => `${node} ${time(startMs)}–${time(endMs)}`);
  return `${rows} rows of a page (${sent(delivery)}) after newer ones (${sent(by)}); frozen: ${frozen.join(', ')}`;
}

async function serverNode(
  run: Run,
  databaseUrl: string,
  name: string,
  freezes: Freeze[],
): Promise<Sabotages> {
  const node = run.use(await Node.start(databaseUrl, { args: ['--webhook-networks', '127.0.0.1/32'] }));
  const isCausedByFreeze = (line: string) => {
    const atMs = Date.parse((JSON.parse(line) as { time: string }).time);
    const isFrozen = freezes.some(
      ({ node: frozen, startMs, endMs }) => frozen === name && startMs <= atMs && atMs <= endMs + THAW_MS,
    );
    return isFrozen && CAUSED_BY_FREEZE.test(line);
  };
  run.defer(async () => {
    await node.stop();
    for (const line of node.logLines.filter((each) => each.startsWith('{"level":50')))
      if (isCausedByFreeze(line)) run.count('errors because a node was frozen');
      else run.violation('ERROR', line);
  });
  return {
    restarted: () => node.restart(),
    async killed() {
      await node.restart('SIGKILL');
      await Bun.sleep(TAKEOVER_MS);
    },
    async frozen() {
      const wake = node.freeze();
      const startMs = Date.now();
      await Bun.sleep(TAKEOVER_MS);
      wake();
      freezes.push({ node: name, startMs, endMs: Date.now() });
    },
  };
}

const QUICK_LEASE_MS = 3_000;

function quickNode(run: Run, stores: Stores, clock: Clock): Sabotages {
  let isCutOff = false;
  const renew: Stores['senderLease']['renew'] = (name, holder) =>
    isCutOff ? Promise.reject(new Error('cut off')) : stores.senderLease.renew(name, holder);
  const start = () => {
    const sender = new WebhookSender({
      ...{ stores: { ...stores, senderLease: { ...stores.senderLease, renew } }, clock },
      logger: new Logger('error', (line) => run.violation('ERROR', line)),
      post: { rules: addressRules(['127.0.0.1']), timeoutMs: 400 },
      leaseTimings: { leaseMs: QUICK_LEASE_MS, renewEveryMs: 150, checkEveryMs: 50 },
    });
    sender.start();
    return sender;
  };
  let sender = start();
  run.defer(() => sender.stop(500));
  return {
    async restarted() {
      await sender.stop(500);
      sender = start();
    },
    async 'cut off from the lease'() {
      isCutOff = true;
      await Bun.sleep(QUICK_LEASE_MS + 300);
      isCutOff = false;
    },
  };
}
