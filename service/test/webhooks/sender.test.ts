import { afterEach, describe, expect, test } from 'bun:test';
import { createServer, type Socket } from 'node:net';
import type { Clock } from '../../src/domain/clock.ts';
import { Logger } from '../../src/domain/logger.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { NO_WATERMARK_MS } from '../../src/domain/webhook.ts';
import { addressRules } from '../../src/webhooks/address-rules.ts';
import type { LeaseTimings } from '../../src/webhooks/lease.ts';
import type { PostOptions } from '../../src/webhooks/post.ts';
import { WebhookSender } from '../../src/webhooks/sender.ts';
import { newIds, newOrganisation, openTestStores, writeTransactions } from '../storage/open-test-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { OK, Receiver } from './receiver.ts';

const LOOPBACK = addressRules(['127.0.0.1']);
const DAY_MS = 86_400_000;

for (const database of DATABASES) {
  describe(`the sender on ${database.name}`, () => {
    const open = openTestStores();
    const errors: string[] = [];
    const senders: WebhookSender[] = [];
    const receivers: Receiver[] = [];
    afterEach(async () => {
      await Promise.all(senders.splice(0).map((sender) => sender.stop(100)));
      await Promise.all(receivers.splice(0).map((receiver) => receiver[Symbol.asyncDispose]()));
      expect(errors).toEqual([]);
    });

    function newReceiver(behaviour = OK): Receiver {
      const receiver = new Receiver(behaviour);
      receivers.push(receiver);
      return receiver;
    }

    interface Sending {
      readonly post?: Partial<PostOptions>;
      readonly leaseTimings?: LeaseTimings;
    }

    function send(stores: Stores, clock: Clock, { post = {}, leaseTimings }: Sending = {}): WebhookSender {
      const sender = new WebhookSender({
        stores,
        clock,
        logger: new Logger('error', (line) => errors.push(line)),
        post: { rules: LOOPBACK, ...post },
        ...(leaseTimings && { leaseTimings }),
      });
      senders.push(sender);
      sender.start();
      return sender;
    }

    async function setUp(receiver: Receiver, org = 'acme') {
      const url = await database.create();
      let offsetMs = 0;
      const clock = () => Date.now() + offsetMs;
      const stores = await open.stores(url, undefined, clock);
      const { id: orgId } = await newOrganisation(stores, org);
      const webhook = await stores.webhooks.create(orgId, receiver.url, NO_WATERMARK_MS);
      const status = async () => (await stores.webhooks.list()).find(({ id }) => id === webhook.id);
      return {
        ...{ url, stores, orgId, webhook, clock, status },
        /** Waits until the stored state has this property. */
        async until(check: (state: NonNullable<Awaited<ReturnType<typeof status>>>) => boolean) {
          while (true) {
            const state = await status();
            if (state !== undefined && check(state)) return state;
            await Bun.sleep(5);
          }
        },
        forward(ms: number) {
          offsetMs += ms;
        },
      };
    }

    test('sends all transactions in pages, then each change, and moves the watermark', async () => {
      const receiver = newReceiver();
      const { stores, orgId, clock, until } = await setUp(receiver);
      const ids = newIds(250);
      const first = await writeTransactions(stores, orgId, ids);
      send(stores, clock);
      await until(({ watermarkMs }) => watermarkMs === first);
      expect(receiver.deliveries.map(({ page }) => page.transactions.length)).toEqual([100, 100, 50]);
      expect(receiver.deliveries.map(({ page }) => page.after)).toEqual([null, null, null]);
      const stamp = new Date(first)
        .toISOString()
        .slice(0, -1)
        .replace(/\.?0+$/, '');
      expect(receiver.deliveries.map(({ page }) => page.completeThrough?.startsWith(stamp))).toEqual([
        undefined,
        undefined,
        true,
      ]);

      const second = await writeTransactions(stores, orgId, ids.slice(0, 1), 'v2');
      const state = await until(({ watermarkMs }) => watermarkMs === second);
      expect(receiver.deliveries).toHaveLength(4);
      expect(receiver.copy.get(ids[0] as (typeof ids)[0])?.text).toStartWith('v2');
      expect(receiver.copy.size).toBe(250);
      expect(receiver.concurrent).toBe(1);
      expect(state).toMatchObject({
        failures: 0,
        failingSinceMs: null,
        lastResult: '204',
        behindSinceMs: null,
      });
    });

    test('repeats a failed page with the same id and without the pages before it', async () => {
      const receiver = newReceiver((_, number) => new Response(null, { status: number === 2 ? 500 : 200 }));
      const { stores, orgId, clock, until, forward } = await setUp(receiver);
      await writeTransactions(stores, orgId, newIds(150));
      send(stores, clock);
      const failing = await until(({ failures }) => failures === 1);
      expect(failing).toMatchObject({ lastResult: '500', watermarkMs: NO_WATERMARK_MS });
      forward(7_000);
      await until(({ behindSinceMs }) => behindSinceMs === null);
      const pages = receiver.deliveries.map(({ headers }) => headers.get('webhook-id'));
      expect(pages).toHaveLength(3);
      expect(pages[2]).toBe(pages[1] as string);
      expect(pages[0]).not.toBe(pages[1] as string);
    });

    test('another node sends a failed page again with the same id', async () => {
      const receiver = newReceiver(() => new Response(null, { status: 500 }));
      const { url, stores, orgId, clock, until, forward } = await setUp(receiver);
      await writeTransactions(stores, orgId, newIds(3));
      const first = send(stores, clock);
      await until(({ failures }) => failures === 1);
      await first.stop(100);
      forward(7_000);
      send(await open.stores(url, undefined, clock), clock);
      await until(({ failures }) => failures === 2);
      const [one, other] = receiver.deliveries.map(({ headers }) => headers.get('webhook-id'));
      expect(one).toBe(other as string);
    });

    test('a body has at most 256 KiB', async () => {
      const receiver = newReceiver();
      const { stores, orgId, clock } = await setUp(receiver);
      // Ten of these rows have 262,059 bytes. Without the rest of the body, they would fit.
      await writeTransactions(stores, orgId, newIds(20), 'x'.repeat(26_099));
      send(stores, clock);
      await receiver.received(20);
      expect(receiver.deliveries.map(({ page }) => page.transactions.length)).toEqual([9, 9, 2]);
      for (const { body } of receiver.deliveries) expect(body.length).toBeLessThanOrEqual(256 * 1024);
    });

    test('an endpoint that was down for 40 days continues without a gap', async () => {
      const receiver = newReceiver(() => new Response(null, { status: 503 }));
      const { stores, orgId, clock, until, forward } = await setUp(receiver);
      const ids = newIds(10);
      send(stores, clock);
      for (const [day, id] of ids.entries()) {
        const before = receiver.deliveries.length;
        await writeTransactions(stores, orgId, [id], `day ${4 * day}`);
        await receiver.delivered(before + 1);
        await until(({ attemptedAtMs }) => (attemptedAtMs ?? 0) > clock() - DAY_MS / 2);
        forward(4 * DAY_MS);
      }
      expect((await until(({ failures }) => failures >= 10)).failingSinceMs).toBeLessThan(
        clock() - 39 * DAY_MS,
      );
      receiver.behaviour = OK;
      const state = await until(({ behindSinceMs }) => behindSinceMs === null);
      expect(state).toMatchObject({ failures: 0, failingSinceMs: null, retryAtMs: null });
      expect([...receiver.copy.keys()].sort()).toEqual(ids);
    });

    test('410 pauses the endpoint until the operator resumes it', async () => {
      const receiver = newReceiver(() => new Response(null, { status: 410 }));
      const { stores, orgId, clock, webhook, until, forward } = await setUp(receiver);
      await writeTransactions(stores, orgId, newIds(1));
      send(stores, clock);
      expect(await until(({ pausedAtMs }) => pausedAtMs !== null)).toMatchObject({ pausedBy: 'endpoint' });
      receiver.behaviour = OK;
      forward(DAY_MS);
      await Bun.sleep(1_200);
      expect(receiver.deliveries).toHaveLength(1);
      await stores.webhooks.resume(webhook.id);
      await receiver.received(1);
    });

    test('waits for the time in Retry-After before the next attempt', async () => {
      const headers = { 'Retry-After': '7200' };
      const receiver = newReceiver(() => new Response(null, { status: 503, headers }));
      const { stores, orgId, clock, until } = await setUp(receiver);
      await writeTransactions(stores, orgId, newIds(1));
      send(stores, clock);
      const { attemptedAtMs, retryAtMs } = await until(({ failures }) => failures === 1);
      expect((retryAtMs ?? 0) - (attemptedAtMs ?? 0)).toBe(7_200_000);
    });

    test('a replay during a walk is not undone by the end of the walk', async () => {
      const { promise: replayed, resolve: release } = Promise.withResolvers<Response>();
      const receiver = newReceiver((_, number) => (number === 2 ? replayed : new Response()));
      const { stores, orgId, clock, webhook, until } = await setUp(receiver);
      const ids = newIds(2);
      const first = await writeTransactions(stores, orgId, ids.slice(0, 1));
      send(stores, clock);
      await until(({ watermarkMs }) => watermarkMs === first);
      await writeTransactions(stores, orgId, ids.slice(1));
      await receiver.delivered(2);
      await stores.webhooks.replay(webhook.id, NO_WATERMARK_MS);
      receiver.copy.clear();
      release(new Response());
      await receiver.received(2);
      await until(({ behindSinceMs }) => behindSinceMs === null);
      const ids3 = receiver.deliveries.map(({ headers }) => headers.get('webhook-id'));
      expect(new Set(ids3).size).toBe(3);
    });

    test('a paused endpoint receives no requests, and misses no change after it is resumed', async () => {
      const receiver = newReceiver();
      const { stores, orgId, clock, webhook, until } = await setUp(receiver);
      await stores.webhooks.pause(webhook.id);
      await writeTransactions(stores, orgId, newIds(3));
      send(stores, clock);
      await Bun.sleep(1_200);
      expect(receiver.deliveries).toEqual([]);
      await stores.webhooks.resume(webhook.id);
      await until(({ behindSinceMs }) => behindSinceMs === null);
      expect(receiver.copy.size).toBe(3);
    });

    test('only one of two nodes sends, and the other takes over when it stops', async () => {
      const receiver = newReceiver();
      const { url, stores, orgId, clock, until } = await setUp(receiver);
      const timings = { leaseMs: 1_000, renewEveryMs: 100, checkEveryMs: 50, reservedMs: 500 };
      const nodes = [];
      for (const _ of [1, 2]) {
        const own = await open.stores(url, undefined, clock);
        nodes.push(send(own, clock, { leaseTimings: timings }));
        await Bun.sleep(200);
      }
      expect(nodes.map(({ report }) => report.isSending)).toEqual([true, false]);
      await writeTransactions(stores, orgId, newIds(3));
      await until(({ behindSinceMs }) => behindSinceMs === null);
      await nodes[0]?.stop(100);
      const stamp = await writeTransactions(stores, orgId, newIds(3));
      await until(({ watermarkMs }) => watermarkMs === stamp);
      expect(nodes.map(({ report }) => report.isSending)).toEqual([false, true]);
      expect(receiver.deliveries).toHaveLength(2);
    });

    test('a node that stops during a request does not let another node send before the request has ended', async () => {
      const receiver = newReceiver(() => Bun.sleep(600).then(() => new Response()));
      const { url, stores, orgId, clock, until } = await setUp(receiver);
      const leaseTimings = { leaseMs: 1_000, renewEveryMs: 100, checkEveryMs: 50, reservedMs: 800 };
      const [first, second] = [
        await open.stores(url, undefined, clock),
        await open.stores(url, undefined, clock),
      ];
      const stopping = send(first, clock, { leaseTimings });
      await writeTransactions(stores, orgId, newIds(1));
      await receiver.delivered(1);
      await stopping.stop(10);
      await writeTransactions(stores, orgId, newIds(1));
      send(second, clock, { leaseTimings });
      await receiver.delivered(2);
      expect(receiver.concurrent).toBe(1);
      await until(({ behindSinceMs }) => behindSinceMs === null);
    });

    test('if 50 of 100 endpoints hang, drip bytes or redirect, p99 of the others is below 2 s', async () => {
      const arrivedMs = new Map<string, number>();
      const good = newReceiver(({ path }) => {
        arrivedMs.set(path, performance.now());
        return new Response();
      });
      using bad = await brokenServer();
      const { stores, clock } = await setUp(good);
      const orgs: { readonly orgId: number; readonly path: string | undefined }[] = [];
      for (let i = 0; i < 100; i++) {
        const { id: orgId } = await newOrganisation(stores, `org ${i}`);
        const path = i % 2 === 0 ? undefined : `/hook/${i}`;
        const url = path === undefined ? `${bad.url}/${(i / 2) % 4}` : `${good.url}/${i}`;
        await stores.webhooks.create(orgId, url, NO_WATERMARK_MS);
        orgs.push({ orgId, path });
      }
      send(stores, clock);
      const delaysMs: number[] = [];
      // In the first round, no endpoint is known to be broken.
      for (const _ of [1, 2]) {
        arrivedMs.clear();
        const committedMs = new Map<string, number>();
        for (const { orgId, path } of orgs) {
          await writeTransactions(stores, orgId, newIds(1));
          if (path !== undefined) committedMs.set(path, performance.now());
        }
        while (arrivedMs.size < 50) await Bun.sleep(5);
        for (const [path, atMs] of committedMs) delaysMs.push((arrivedMs.get(path) ?? 0) - atMs);
      }
      expect(delaysMs).toHaveLength(100);
      // At most one of 100 changes takes longer.
      expect(delaysMs.toSorted((a, b) => b - a)[1]).toBeLessThan(2_000);
    }, 30_000);
  });
}

/** Hangs (/0), redirects (/1), or sends the headers (/2) or the body (/3) byte by byte. */
async function brokenServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    const drip = (start: string) => {
      socket.write(start);
      const timer = setInterval(() => socket.write('x'), 100);
      socket.on('close', () => clearInterval(timer));
    };
    socket.once('data', (data) => {
      const [, path] = data.toString('latin1').split(/[ /]+/);
      if (path === '1') socket.end('HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n');
      if (path === '2') drip('HTTP/1.1 200 OK\r\nX-Slow: ');
      if (path === '3') drip('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
