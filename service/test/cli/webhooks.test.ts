// Webhooks on the command line, and a server that sends them.

import { expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { newIds, writeTransactions } from '../storage/open-test-stores.ts';
import { commandLine, rejected, ServerProcess } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { id, transaction } from '../support/fixtures.ts';
import { ndjson, TestNode } from '../support/test-node.ts';
import { until } from '../support/until.ts';
import { type Delivery, OK, Receiver } from '../webhooks/receiver.ts';

const UNKNOWN = '0192d1a0-0000-7000-8000-000000000001';

/** True if one of the signatures is right. */
function isSigned({ headers, body }: Delivery, secret: string): boolean {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const text = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.${body}`;
  const expected = `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
  return headers.get('webhook-signature')?.split(' ').includes(expected) ?? false;
}

async function setUp() {
  const cwd = temporaryFolder();
  const { run, json } = commandLine(() => ({ cwd, env: { OFFERBOOK_WEBHOOK_NETWORKS: '127.0.0.1' } }));
  await json('orgs create acme');
  return { url: `sqlite:${join(cwd, 'offerbook.db')}`, run, json };
}

test('a running server sends signed changes to a new endpoint, before and after a rotation, and never shows its responses', async () => {
  const { url, run, json } = await setUp();
  const answer = 'answer-of-the-receiver';
  await using receiver = new Receiver(() => new Response(answer, { headers: { 'X-Answer': answer } }));
  const args = ['--database', url, '--webhook-networks', '127.0.0.1/32', '--log-level', 'debug'];
  await using server = await ServerProcess.start(args);
  const importSale = (number: number) =>
    run('import transactions - --org acme', { stdin: ndjson([transaction(number)]) });
  await importSale(1);
  const created = await json(`webhooks create --org acme --url ${receiver.url}`);
  expect(created).toEqual({
    id: expect.any(String),
    url: receiver.url,
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  });
  await receiver.received(1);
  expect(receiver.copy.get(id(1))).toMatchObject(transaction(1));

  const rotated = await json(`webhooks rotate ${created.id} --overlap 1h`);
  expect(rotated.secret).not.toBe(created.secret);
  await importSale(2);
  await receiver.received(2);
  const [first, second] = receiver.deliveries as [Delivery, Delivery];
  const secrets = [created.secret, rotated.secret];
  expect(secrets.map((secret) => isSigned(first, secret))).toEqual([true, false]);
  expect(secrets.map((secret) => isSigned(second, secret))).toEqual([true, true]);

  await json(`webhooks rotate ${created.id} --overlap 0s`);
  await json(`webhooks test ${created.id}`);
  // The server may have sent the second page again, if it had not stored its success before the rotation.
  const third = receiver.deliveries.find(({ page }) => page.transactions.length === 0) as Delivery;
  expect(secrets.map((secret) => isSigned(third, secret))).toEqual([false, false]);
  expect(third.page).toEqual({ transactions: [], after: expect.any(String), completeThrough: null });

  expect(await server.stop()).toBe(0);
  const shown = [server.logLines, await json('webhooks list'), await json('audit')].map((it) =>
    JSON.stringify(it),
  );
  expect([...secrets, answer].filter((text) => shown.join().includes(text))).toEqual([]);
});

test('every change of a webhook is in the audit log, without the path of the URL', async () => {
  const { json } = await setUp();
  const { id: webhook } = await json('webhooks create --org acme --url https://partner.example/token-123');
  for (const args of ['pause', 'resume', 'rotate', 'replay --since start', 'delete'])
    await json(`webhooks ${args.replace(/^\w+/, (name) => `${name} ${webhook}`)}`);
  expect(await json('webhooks list')).toEqual([]);
  const entries = (await json('audit')) as { action: string; org: string; details: object }[];
  const own = entries.filter(({ action }) => action.startsWith('webhook'));
  expect(own.map(({ action }) => action).reverse()).toEqual([
    'webhook created',
    'webhook paused',
    'webhook resumed',
    'webhook secret rotated',
    'webhook replayed',
    'webhook deleted',
  ]);
  expect(own[0]).toMatchObject({
    org: 'acme',
    details: { id: webhook, origin: 'https://partner.example' },
  });
  expect(JSON.stringify(own)).not.toContain('token-123');
});

test('webhooks list prints the state of each webhook', async () => {
  const { json, run } = await setUp();
  const { id: webhook } = await json('webhooks create --org acme --url https://partner.example/');
  expect(await json('webhooks list')).toEqual([
    {
      id: webhook,
      org: 'acme',
      url: 'https://partner.example/',
      after: null,
      pausedAt: null,
      pausedBy: null,
      state: 'up to date',
      createdAt: expect.any(String),
      behindSince: null,
      failingSince: null,
      failures: 0,
      retryAt: null,
      lastResult: null,
      lastDeliveryAt: null,
    },
  ]);
  await run(`webhooks pause ${webhook}`);
  const { stdout } = await run('webhooks list');
  expect(stdout).toMatch(new RegExp(`^ID .*\n${webhook}  acme  paused .* https://partner.example/\n$`));
});

test('a server with --webhooks off leaves webhooks to another server', async () => {
  await using receiver = new Receiver(OK);
  const webhookNetworks = ['127.0.0.1'];
  await using off = await TestNode.start({ settings: { webhookNetworks, webhooks: 'off' } });
  const org = await off.organisation();
  await off.stores.webhooks.create(org.id, receiver.url, 0);
  await writeTransactions(off.stores, org.id, newIds(1));
  const { databaseUrl } = off;
  // It would have to wait for the lease of the first server if that were sending.
  await using on = await TestNode.start({ databaseUrl, settings: { webhookNetworks } });
  await receiver.received(1);
  const isSender = ({ logLines }: TestNode) =>
    logLines.some((line) => line.includes('"this node sends webhooks"'));
  await until(() => isSender(on));
  expect(isSender(off)).toBe(false);
});

test('webhooks rejects invalid arguments and unknown webhooks with exit code 2', async () => {
  const { run } = await setUp();
  const wrong = [
    'webhooks create --org nobody --url https://partner.example/',
    'webhooks create --org acme --url partner.example',
    'webhooks create --org acme --url https://partner.example/ --since yesterday',
    'webhooks pause 1',
    ...['pause', 'resume', 'rotate', 'test', 'delete'].map((name) => `webhooks ${name} ${UNKNOWN}`),
    `webhooks replay ${UNKNOWN} --since start`,
  ];
  for (const args of wrong) expect({ args, code: (await run(args)).code }).toEqual({ args, code: 2 });
  expect((await run('webhooks list')).stdout).toBe('No webhooks.\n');
});

test('webhooks test exits with 1 and reports the status if the endpoint does not accept the request', async () => {
  const { run, json } = await setUp();
  await using receiver = new Receiver(() => new Response('do not print this', { status: 500 }));
  const { id: webhook } = await json(`webhooks create --org acme --url ${receiver.url}`);
  expect(await run(`webhooks test ${webhook}`)).toEqual(
    rejected('the endpoint did not accept the request: 500', 1),
  );
});
