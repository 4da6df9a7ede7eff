// Imports change transactions all the time, endpoints fail in every way, and the processes that send webhooks are stopped, killed,
// frozen and cut off from their lease. At the end, the copy of every endpoint must equal the database.

import type { Random } from '@offerbook/sandbox/random.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { CREATE_OPTIONS, openStores } from '../../../src/storage/open-stores.ts';
import { idOf, readAllTransactions } from '../../storage/open-test-stores.ts';
import { putDocuments } from '../../support/put-documents.ts';
import { until } from '../../support/until.ts';
import type { Delivery } from '../../webhooks/receiver.ts';
import { createOrganisation } from '../cluster/seed.ts';
import { Actors } from '../report/actors.ts';
import type { Scenario } from '../scenario.ts';
import { type Endpoint, newEndpoint } from '../traffic/endpoint.ts';
import { type Freeze, isDelayedBy, startSender, TAKEOVER_MS } from '../traffic/sender.ts';
import { TIMEOUT_MS } from '../traffic/sender-process.ts';

const ORGANISATIONS = 3;
/** A replay has 20 pages. */
const ROWS = 2_000;
/** Mean time between two imports of an organisation. */
const PAUSE_MS = 50;
const SETTLE_MAX_MS = 120_000;
/** In a run with fewer requests, hardly any fault would hit one. */
const REQUESTS_MIN = 20;

export const webhooks: Scenario = {
  name: 'webhooks',
  guarantee: 'webhooks lose no change and never overwrite a newer version while senders and endpoints fail',
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
    for (const { receiver } of endpoints) {
      receiver.isDelayed = (delivery) => freezes.some((freeze) => isDelayedBy(freeze, delivery));
      receiver.timeoutMs = TIMEOUT_MS;
    }

    const isEnough = () => (run.counts['requests: good'] ?? 0) >= REQUESTS_MIN;
    const actors = new Actors(run.endMs, isEnough);
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
        if (!receiver.isDelayed(each.delivery))
          run.violation('OLDER', describe([each.delivery, each.by], freezes));
        else run.count('rows older because a sender was frozen', each.rows);
      run.count('requests delayed by a freeze', receiver.deliveries.filter(receiver.isDelayed).length);
      if (receiver.concurrent > 1) run.violation('OVERLAP', describe(receiver.simultaneous, freezes));
      run.count('rows in the database', rows.length);
      run.count('rows repeated', receiver.repeated);
    }
  },
};

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

/** A frozen sender makes no messages, so the times show which sender sent a page during a freeze. */
function describe(deliveries: readonly Delivery[], freezes: readonly Freeze[]): string {
  const requests = deliveries.map(({ madeAtMs, arrivedAtMs }) => ({ madeAtMs, arrivedAtMs }));
  const firstMs = Math.min(...deliveries.map(({ madeAtMs }) => madeAtMs));
  return JSON.stringify({ requests, freezes: freezes.filter(({ endMs }) => endMs >= firstMs - TAKEOVER_MS) });
}
