import { afterEach, describe, expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { Logger } from '../../src/domain/logger.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { NO_WATERMARK_MS, type WebhookStatus, webhookState } from '../../src/domain/webhook.ts';
import { addressRules } from '../../src/webhooks/address-rules.ts';
import type { PostOptions } from '../../src/webhooks/post.ts';
import { startSender, type WebhookSender } from '../../src/webhooks/sender.ts';
import {
  newIds,
  newOrganisation,
  openTestStores,
  readAllTransactions,
  writeTransactions,
} from '../storage/open-test-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { until } from '../support/until.ts';
import { type Behaviour, OK, Receiver, rawServer } from './receiver.ts';

const LOOPBACK = addressRules(['127.0.0.1']);
const LEASE_MS = 25_000;

const failing = (status: number, headers = {}): Behaviour => {
  return () => new Response(null, { status, headers });
};

for (const database of DATABASES) {
  describe(`the sender on ${database.name}`, () => {
    const open = openTestStores();
    let lines: string[] = [];
    let senders: WebhookSender[] = [];
    let receivers: Receiver[] = [];
    afterEach(async () => {
      await Promise.all(senders.map((sender) => sender.stop(0)));
      await Promise.all(receivers.map((receiver) => receiver[Symbol.asyncDispose]()));
      expect(lines.filter((line) => line.startsWith('{"level":50'))).toEqual([]);
      [lines, senders, receivers] = [[], [], []];
    });

    function newReceiver(behaviour = OK): Receiver {
      const receiver = new Receiver(behaviour);
      receivers.push(receiver);
      return receiver;
    }

    /** An organisation with an endpoint, and clocks that the test moves. */
    async function setUp(receiver = newReceiver()) {
      const { url, stores, orgId, clock, pass } = await open.scene(database, Date.UTC(2026, 10, 18, 12));
      let monotonicMs = 0;
      const newStores = () => open.stores(url, undefined, clock);
      const webhook = await stores.webhooks.create(orgId, receiver.url, NO_WATERMARK_MS);
      const status = async () => (await stores.webhooks.list())[0] as WebhookStatus;
      return {
        ...{ receiver, stores, orgId, webhook, clock, newStores, status },
        /** Starts a node. */
        send(own: Stores = stores, post: Partial<PostOptions> = {}, leaseMs = LEASE_MS): WebhookSender {
          const sender = startSender({
            ...{ stores: own, clock, monotonicMs: () => monotonicMs },
            logger: new Logger('info', (line) => lines.push(line)),
            post: { rules: LOOPBACK, ...post },
            leaseTimings: { leaseMs, checkEveryMs: 10, renewEveryMs: 10 },
          });
          senders.push(sender);
          return sender;
        },
        until: (accepts: (state: WebhookStatus) => boolean) => until(status, accepts),
        upToDate: () => until(status, (state) => webhookState(state) === 'up to date'),
        write: (ids: readonly Uuid[], text?: string) => writeTransactions(stores, orgId, ids, text),
        /** Sets the clock forward or back. */
        forward(ms: number) {
          pass(ms);
          for (const sender of senders) sender.poll();
        },
        freeze(ms: number) {
          monotonicMs += ms;
        },
        /** Waits until every sender has looked for changes. */
        async polled() {
          const marker = newReceiver();
          const { id } = await newOrganisation(stores, `marker ${receivers.length}`);
          await stores.webhooks.create(id, marker.url, NO_WATERMARK_MS);
          await writeTransactions(stores, id, newIds(1));
          for (const sender of senders) sender.poll();
          await marker.received(1);
        },
      };
    }

    /** The indexes of the ids in each delivery, as ranges such as `0-99`. */
    const ranges = (receiver: Receiver, ids: readonly Uuid[]) =>
      receiver.deliveries.map(({ page }) => {
        const found: [number, number][] = [];
        for (const index of page.transactions.map(({ id }) => ids.indexOf(id))) {
          const last = found.at(-1);
          if (last?.[1] === index - 1) last[1] = index;
          else found.push([index, index]);
        }
        return found.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(' ');
      });

    test('sends all transactions in the order of change, then each change', async () => {
      const { receiver, send, write, upToDate, clock, forward } = await setUp();
      const ids = newIds(260);
      const first = await write(ids.slice(10));
      forward(1_000);
      const second = await write(ids.slice(0, 10));
      send();
      expect(await upToDate()).toMatchObject({
        ...{ failures: 0, failingSinceMs: null, retryAtMs: null, lastResult: '204' },
        ...{ attemptedAtMs: clock(), deliveredAtMs: clock(), positionMs: second, behindSinceMs: null },
      });
      forward(1_000);
      const third = await write(ids.slice(5, 6), 'v2');
      await upToDate();
      expect(ranges(receiver, ids)).toEqual(['10-109', '110-209', '210-259 0-9', '5']);
      const print = (ms: number) => printTimestamp(ms);
      const pages = receiver.deliveries.map(({ page }) => [page.after, page.completeThrough]);
      expect(pages as (string | null)[][]).toEqual([
        [null, print(first - 1)],
        [print(first - 1), print(first - 1)],
        [print(first - 1), print(second)],
        [print(second), print(third)],
      ]);
      expect(receiver.copy.get(ids[5] as Uuid)?.text).toStartWith('v2');
      expect([new Set(receiver.ids).size, receiver.concurrent]).toEqual([4, 1]);
    });

    test('if a node stops during a backlog, the next node repeats at most the page in flight', async () => {
      const { promise: isStopping, resolve } = Promise.withResolvers<void>();
      const receiver = newReceiver(async (_, number) => {
        if (number === 2) await isStopping;
        // This response is lost.
        if (number === 3) await new Promise(() => {});
        return new Response();
      });
      const { send, write, upToDate, newStores, freeze, stores } = await setUp(receiver);
      const ids = newIds(450);
      await write(ids);
      const first = send(await newStores());
      await receiver.delivered(2);
      const stopped = first.stop(60_000);
      resolve();
      await stopped;
      const second = send(await newStores());
      await receiver.delivered(3);
      await second.stop(0);
      // The lease was not released, because a request was in progress.
      expect(await stores.senderLease.find('webhooks')).toBeDefined();
      const third = send();
      await until(() => {
        freeze(LEASE_MS);
        return third.report.isSending;
      });
      await upToDate();
      expect(ranges(receiver, ids)).toEqual(['0-99', '100-199', '200-299', '200-299', '300-399', '400-449']);
      expect(receiver.ids.map((id) => receiver.ids.indexOf(id))).toEqual([0, 1, 2, 2, 4, 5]);
    });

    test('a row that changes during a backlog is sent again later, in its new state', async () => {
      const ids = newIds(300);
      const [early, late] = [ids[50] as Uuid, ids[250] as Uuid];
      const receiver = newReceiver(async (_, number) => {
        if (number === 2) await write([early, late], 'v2');
        return new Response();
      });
      const { send, write, upToDate, stores, orgId } = await setUp(receiver);
      await write(ids);
      send();
      await upToDate();
      expect(ranges(receiver, ids)).toEqual(['0-99', '100-199', '200-249 251-299 50', '250']);
      expect([...receiver.copy.values()].map((row) => JSON.stringify(row)).sort()).toEqual(
        (await readAllTransactions(stores, orgId)).map(({ document }) => document),
      );
    });

    test('only one of two nodes sends, and the other takes over when it stops or is killed', async () => {
      const { send, write, upToDate, newStores, freeze } = await setUp();
      const isSending = () => senders.map(({ report }) => report.isSending);
      send(await newStores());
      await until(isSending, ([first]) => first === true);
      const second = send(await newStores());
      await write(newIds(3));
      await upToDate();
      expect(isSending()).toEqual([true, false]);
      await senders[0]?.stop(0);
      await until(isSending, ([, isSecond]) => isSecond === true);
      await write(newIds(3));
      await upToDate();
      expect([senders[0]?.report.delivered, second.report.delivered]).toEqual([1, 1]);

      // A killed node stops renewing the lease and does not release it.
      const killed = await newStores();
      await second.stop(0);
      const renew = () => Promise.reject(new Error('killed'));
      send({ ...killed, senderLease: { ...killed.senderLease, renew } });
      await until(isSending, ([, , isThird]) => isThird === true);
      send(await newStores());
      await until(isSending, () => {
        freeze(LEASE_MS);
        return isSending()[3] === true;
      });
    });

    // The rest does not depend on the database.
    if (database !== DATABASES[0]) return;

    test('`list` shows the progress of a backlog', async () => {
      const receiver = newReceiver((_, number) => (number === 2 ? new Promise(() => {}) : new Response()));
      const { send, write, forward, clock, until: untilState, stores, webhook } = await setUp(receiver);
      const stamp = await write(newIds(150));
      forward(DAY_MS);
      await stores.webhooks.replay(webhook.id, NO_WATERMARK_MS);
      send();
      const state = await untilState(({ lastResult }) => lastResult !== null);
      expect(state).toMatchObject({
        ...{ lastResult: '200', attemptedAtMs: clock(), deliveredAtMs: clock(), positionMs: stamp },
        // Since the replay.
        ...{ behindSinceMs: clock(), failures: 0 },
      });
      expect(webhookState(state)).toBe('behind');
    });

    test('repeats a failed page with the same id, on any node, and with a different id if its contents have changed', async () => {
      const receiver = newReceiver((_, number) => new Response(null, { status: number === 1 ? 200 : 500 }));
      const { send, write, forward, upToDate, until: untilState, newStores } = await setUp(receiver);
      const ids = newIds(150);
      await write(ids);
      const first = send(await newStores());
      expect(await untilState(({ failures }) => failures === 1)).toMatchObject({ lastResult: '500' });
      forward(7_000);
      await untilState(({ failures }) => failures === 2);
      await first.stop(0);
      send();
      forward(40_000);
      await untilState(({ failures }) => failures === 3);
      await write(ids.slice(120, 121), 'v2');
      receiver.behaviour = OK;
      forward(HOUR_MS);
      await upToDate();
      const failed = Array(3).fill('100-149');
      expect(ranges(receiver, ids)).toEqual(['0-99', ...failed, '100-119 121-149 120']);
      expect(receiver.ids.map((id) => receiver.ids.indexOf(id))).toEqual([0, 1, 1, 1, 4]);
    });

    test('a body has at most 256 KiB', async () => {
      const { receiver, send, write, upToDate } = await setUp();
      // Ten of these rows have 262,059 bytes. Without the rest of the body, they would fit.
      await write(newIds(20), 'x'.repeat(26_099));
      send();
      await upToDate();
      expect(receiver.deliveries.map(({ page }) => page.transactions.length)).toEqual([9, 9, 2]);
      for (const { body } of receiver.deliveries) expect(body.length).toBeLessThanOrEqual(256 * 1024);
    });

    test('an endpoint that was down for 40 days receives the current state of each transaction once', async () => {
      const receiver = newReceiver(failing(503));
      const t = await setUp(receiver);
      const ids = newIds(250);
      const beganMs = t.clock();
      t.send();
      for (let round = 1; round <= 10; round++) {
        await t.write(ids.slice(0, 25 * round), `round ${round}`);
        await t.until(({ failures }) => failures >= round);
        t.forward(4 * DAY_MS);
      }
      expect(await t.until(() => true)).toMatchObject({
        failingSinceMs: beganMs,
        positionMs: NO_WATERMARK_MS,
      });
      const before = receiver.deliveries.length;
      receiver.behaviour = OK;
      t.forward(DAY_MS);
      expect(await t.upToDate()).toMatchObject({ failures: 0, failingSinceMs: null, retryAtMs: null });
      expect(ranges(receiver, ids).slice(before)).toEqual(['0-99', '100-199', '200-249']);
      expect([...receiver.copy.values()].map((row) => JSON.stringify(row))).toEqual(
        (await readAllTransactions(t.stores, t.orgId)).map(({ document }) => document),
      );
    });

    test('410 pauses the endpoint until the operator resumes it', async () => {
      const receiver = newReceiver(failing(410));
      const t = await setUp(receiver);
      await t.write(newIds(1));
      t.send();
      expect(await t.until(({ pausedAtMs }) => pausedAtMs !== null)).toMatchObject({
        pausedBy: 'endpoint',
      });
      receiver.behaviour = OK;
      t.forward(DAY_MS);
      await t.polled();
      expect(receiver.deliveries).toHaveLength(1);
      await t.stores.webhooks.resume(t.webhook.id);
      await t.upToDate();
      expect(receiver.copy.size).toBe(1);
    });

    test('an endpoint that is paused during a backlog does not get the rest until it is resumed', async () => {
      let polls = 0;
      const receiver = newReceiver(async (_, number) => {
        if (number === 1) {
          await stores.webhooks.pause(webhook.id);
          const before = polls;
          sender.poll();
          // The first of these polls may have begun before the pause.
          await until(() => polls >= before + 2);
        }
        return new Response();
      });
      const { send, write, polled, upToDate, webhook, stores } = await setUp(receiver);
      const ids = newIds(250);
      await write(ids);
      const behind = async () => {
        const found = await stores.webhooks.behind();
        polls++;
        return found;
      };
      const sender = send({ ...stores, webhooks: { ...stores.webhooks, behind } });
      await polled();
      expect(ranges(receiver, ids)).toEqual(['0-99']);
      await stores.webhooks.resume(webhook.id);
      await upToDate();
      // The revision has changed since the first page was sent, so its result was not stored.
      expect(ranges(receiver, ids)).toEqual(['0-99', '0-99', '100-199', '200-249']);
    });

    test('waits for the time in Retry-After before the next attempt', async () => {
      const receiver = newReceiver(failing(503, { 'Retry-After': '7200' }));
      const { send, write, clock, until: untilState } = await setUp(receiver);
      await write(newIds(1));
      send();
      expect(await untilState(({ failures }) => failures === 1)).toMatchObject({
        retryAtMs: clock() + 2 * HOUR_MS,
      });
    });

    test('a clock that was set back does not delay the next attempt', async () => {
      const receiver = newReceiver((_, number) => new Response(null, { status: number === 1 ? 500 : 200 }));
      const { send, write, forward, upToDate, until: untilState } = await setUp(receiver);
      await write(newIds(1));
      send();
      await untilState(({ failures }) => failures === 1);
      forward(-DAY_MS);
      await upToDate();
      expect(receiver.deliveries).toHaveLength(2);
    });

    test('a replay sends the same pages again with other ids, and a page in flight does not undo it', async () => {
      const receiver = newReceiver(async (_, number) => {
        if (number === 2) await stores.webhooks.replay(webhook.id, NO_WATERMARK_MS);
        return new Response();
      });
      const { send, write, upToDate, stores, webhook } = await setUp(receiver);
      const ids = newIds(200);
      await write(ids);
      send();
      await until(
        () => ranges(receiver, ids).join(),
        (found) => found.endsWith('0-99,100-199'),
      );
      await upToDate();
      const pages = ranges(receiver, ids);
      // The first page may have been repeated before the sender noticed the replay.
      expect(pages.slice(-2)).toEqual(['0-99', '100-199']);
      expect(receiver.ids.slice(-2).filter((id) => receiver.ids.indexOf(id) < 2)).toEqual([]);
    });

    test('a poll that began before a result was stored does not send the page again', async () => {
      const { receiver, send, write, upToDate, stores, orgId, polled } = await setUp();
      let [isRead, isStored, pages] = [false, false, 0];
      const changes: Stores['transactions']['changes'] = (query) => {
        if (query.orgId === orgId) pages++;
        return stores.transactions.changes(query);
      };
      const { behind: read, save: store } = stores.webhooks;
      const behind = async () => {
        const found = await read();
        // Holds back the position before the delivery until the one after it is stored.
        if (receiver.deliveries.length === 1) {
          isRead = true;
          await until(() => isStored);
        }
        return found;
      };
      const save = async (updates: Parameters<typeof store>[0]) => {
        sender.poll();
        await until(() => isRead);
        await store(updates);
        // After the sender has forgotten the result.
        setImmediate(() => {
          isStored = true;
        });
      };
      const transactions = { ...stores.transactions, changes };
      const sender = send({ ...stores, transactions, webhooks: { ...stores.webhooks, behind, save } });
      await write(newIds(1));
      await upToDate();
      await polled();
      expect([pages, receiver.deliveries.length]).toEqual([1, 1]);
    });

    test('a node that was frozen for most of its lease sends nothing before it has renewed the lease', async () => {
      const { receiver, send, write, upToDate, stores, freeze } = await setUp();
      const deliveries: number[] = [];
      const changes: Stores['transactions']['changes'] = async (query) => {
        deliveries.push(receiver.deliveries.length);
        const page = await stores.transactions.changes(query);
        // An attempt takes up to 16 of the 25 seconds.
        if (deliveries.length === 1) freeze(10_000);
        return page;
      };
      await write(newIds(1));
      send({ ...stores, transactions: { ...stores.transactions, changes } });
      await upToDate();
      expect(deliveries).toEqual([0, 0]);
    });

    test('a result that arrives while an earlier one is being stored is stored, too', async () => {
      const { receiver, send, write, upToDate, stores, polled } = await setUp();
      const { save: store } = stores.webhooks;
      const save = async (updates: Parameters<typeof store>[0]) => {
        await store(updates);
        await until(() => sender.report.delivered >= 2);
      };
      await write(newIds(150));
      const sender = send({ ...stores, webhooks: { ...stores.webhooks, save } });
      await upToDate();
      await polled();
      expect(receiver.deliveries).toHaveLength(2);
    });

    test('a flaky endpoint logs one failure and one recovery an hour', async () => {
      let isFailing = true;
      const receiver = newReceiver(() => new Response(null, { status: isFailing ? 500 : 200 }));
      const { send, write, forward, upToDate, until: untilState, webhook } = await setUp(receiver);
      send();
      const flap = async () => {
        isFailing = true;
        await write(newIds(1));
        await untilState(({ failures }) => failures === 1);
        isFailing = false;
        forward(7_000);
        await upToDate();
      };
      for (let i = 0; i < 5; i++) await flap();
      forward(HOUR_MS);
      await flap();
      const logged = lines.map((line) => JSON.parse(line)).filter((line) => 'webhook' in line);
      const fields = { webhook: webhook.id, org: 'acme' };
      const failed = { ...fields, result: '500', msg: 'a webhook failed; it will be retried' };
      const recovered = { ...fields, msg: 'a webhook has recovered' };
      expect(logged.map(({ level: _, time: __, pid: ___, ...line }) => line)).toEqual([
        failed,
        recovered,
        { ...failed, suppressed: 4 },
        recovered,
      ]);
    });

    test('endpoints that hang, drip bytes or redirect do not delay the others', async () => {
      const good = newReceiver();
      using bad = await brokenServer();
      const { send, stores } = await setUp(good);
      const orgIds: number[] = [];
      for (let i = 0; i < 100; i++) {
        const { id } = await newOrganisation(stores, `org ${i}`);
        const url = i % 2 === 0 ? `${bad.url}${(i / 2) % 4}` : `${good.url}/${i}`;
        await stores.webhooks.create(id, url, NO_WATERMARK_MS);
        orgIds.push(id);
      }
      // No request that hangs ends before the end of the test.
      send(stores, { timeoutMs: 10 * 60_000 }, 20 * 60_000);
      // In the first round, no endpoint is known to be broken.
      for (const round of [1, 2]) {
        for (const orgId of orgIds) await writeTransactions(stores, orgId, newIds(1));
        await good.received(50 * round);
      }
    });
  });
}

/** Hangs (/0), redirects (/1), or sends the headers (/2) or the body (/3) byte by byte. */
function brokenServer() {
  return rawServer((socket, request) => {
    const drip = (start: string) => {
      socket.write(start);
      const timer = setInterval(() => socket.write('x'), 100);
      socket.on('close', () => clearInterval(timer));
    };
    const [, path] = request.split(/[ /]+/);
    if (path === '1') socket.end('HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n');
    if (path === '2') drip('HTTP/1.1 200 OK\r\nX-Slow: ');
    if (path === '3') drip('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n');
  });
}
