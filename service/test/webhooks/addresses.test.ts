// The addresses that a real server process contacts, with a DNS server and a network of our own: 127.0.0.1 is allowed, and
// 127.0.0.2 is not. Needs root, to give the server another /etc/resolv.conf.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stores } from '../../src/domain/stores.ts';
import { NO_WATERMARK_MS, type WebhookStatus } from '../../src/domain/webhook.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { newIds, newOrganisation, writeTransactions } from '../storage/open-test-stores.ts';
import { COMMAND, ServerProcess } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { freePort } from '../support/postgres-server.ts';
import { TestDns } from '../support/test-dns.ts';
import { until } from '../support/until.ts';

const isPossible =
  process.getuid?.() === 0 &&
  process.platform === 'linux' &&
  Bun.spawnSync(['unshare', '--mount', 'true']).exitCode === 0;

const [ALLOWED, FORBIDDEN] = ['127.0.0.1', '127.0.0.2'];
/** In the receiver's responses. It must appear nowhere. */
const ANSWER = 'answer-of-the-receiver';

describe.skipIf(!isPossible)('a server process that sends webhooks', () => {
  let stores: Stores;
  let server: ServerProcess;
  let dns: TestDns;
  let adminPort: number;
  const receivers: ReturnType<typeof Bun.serve>[] = [];
  /** The addresses at which requests arrived, with the paths. */
  const arrived: string[] = [];

  function receive(hostname: string, port: number): number {
    const receiver: ReturnType<typeof Bun.serve> = Bun.serve({
      hostname,
      port,
      fetch(request) {
        const { pathname } = new URL(request.url);
        arrived.push(hostname + pathname);
        const headers = { Location: `http://${FORBIDDEN}:${receiver.port}/redirected`, 'X-Answer': ANSWER };
        const status = pathname === '/redirect' ? 307 : 200;
        return new Response(ANSWER, { status, headers });
      },
    });
    receivers.push(receiver);
    return receiver.port ?? 0;
  }

  beforeAll(async () => {
    const port = receive(ALLOWED, 0);
    receive(FORBIDDEN, port);
    // Another address for each run, because a DNS server needs port 53.
    const dnsAddress = `127.${Array.from(crypto.getRandomValues(new Uint8Array(3)), (n) => 1 + (n % 254)).join('.')}`;
    dns = await TestDns.start(dnsAddress, 53);
    const folder = temporaryFolder();
    const resolvConf = join(folder, 'resolv.conf');
    writeFileSync(resolvConf, `nameserver ${dnsAddress}\n`);
    const url = `sqlite:${join(folder, 'test.db')}`;
    stores = await openStores(url, CREATE_OPTIONS);
    for (const path of ['rebinding', 'two', 'redirect']) {
      const { id: orgId } = await newOrganisation(stores, path);
      await stores.webhooks.create(orgId, `http://${path}.example:${port}/${path}`, NO_WATERMARK_MS);
    }
    dns.answers.set('rebinding.example', [[ALLOWED], [FORBIDDEN], [FORBIDDEN], [ALLOWED]]);
    dns.answers.set('two.example', [[ALLOWED, FORBIDDEN]]);
    dns.answers.set('redirect.example', [[ALLOWED]]);
    adminPort = await freePort();
    const command = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';
    server = await ServerProcess.start(
      [
        ...['--database', url, '--webhook-networks', `${ALLOWED}/32`],
        ...['--log-level', 'debug', '--admin-port', String(adminPort)],
      ],
      { command: ['unshare', '--mount', '/bin/sh', '-c', command, resolvConf, COMMAND] },
    );
  });

  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await stores?.close();
    dns?.[Symbol.dispose]();
    for (const receiver of receivers) await receiver.stop(true);
  });

  /** Causes an attempt, and returns its result. */
  async function attempt(org: string): Promise<string | null> {
    const find = async () =>
      (await stores.webhooks.list()).find(({ orgName }) => orgName === org) as WebhookStatus;
    const before = await find();
    // After a failure, the transaction is still to be sent.
    if (before.failures > 0) await stores.webhooks.resume(before.id);
    else await writeTransactions(stores, before.orgId, newIds(1));
    const { lastResult } = await until(find, ({ attemptedAtMs }) => attemptedAtMs !== before.attemptedAtMs);
    return lastResult;
  }

  test('resolves a name once per attempt, and sends nothing while its address is forbidden', async () => {
    const results: unknown[] = [];
    for (const _ of Array(4))
      results.push([await attempt('rebinding'), dns.queries.get('rebinding.example')]);
    expect(results).toEqual([
      ['200', 1],
      ['forbidden address', 2],
      ['forbidden address', 3],
      ['200', 4],
    ]);
    expect(arrived).toEqual([`${ALLOWED}/rebinding`, `${ALLOWED}/rebinding`]);
  });

  test('refuses a name with an allowed and a forbidden address', async () => {
    arrived.length = 0;
    expect(await attempt('two')).toBe('forbidden address');
    expect(arrived).toEqual([]);
  });

  test('does not follow a redirect to a forbidden address', async () => {
    arrived.length = 0;
    expect(await attempt('redirect')).toBe('307');
    expect(arrived).toEqual([`${ALLOWED}/redirect`]);
  });

  test("never stores, logs or shows anything of a receiver's response except its status", async () => {
    const get = async (path: string) => (await fetch(`http://127.0.0.1:${adminPort}${path}`)).text();
    const shown = [
      ...server.logLines,
      JSON.stringify(await stores.webhooks.list()),
      JSON.stringify(await stores.audit.list({ limit: 100 })),
      ...(await Promise.all(['/metrics', '/webhooks'].map(get))),
    ];
    expect(shown.at(-1)).toContain('307');
    expect(shown.filter((text) => text.includes(ANSWER))).toEqual([]);
    expect(arrived.filter((text) => text.startsWith(FORBIDDEN))).toEqual([]);
  });
});
