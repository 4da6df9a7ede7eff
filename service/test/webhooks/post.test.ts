import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { addressRules } from '../../src/webhooks/address-rules.ts';
import { type PostOptions, post } from '../../src/webhooks/post.ts';
import { temporaryFolder } from '../support/databases.ts';
import { localServer } from '../support/local-server.ts';
import { newCertificate } from '../support/new-certificate.ts';
import { TestDns } from '../support/test-dns.ts';
import { rawServer } from './receiver.ts';

const LOOPBACK = addressRules(['127.0.0.1']);
const PUBLIC_ONLY = addressRules([]);

function send(url: string, options: Partial<PostOptions> = {}) {
  const request = { url, headers: {}, body: Buffer.from('{}'), failures: 0, nowMs: Date.now() };
  return post(request, { rules: LOOPBACK, ...options });
}

const resultOf = async (...attempt: Parameters<typeof send>) => (await send(...attempt)).result;

describe('responses', () => {
  test('any status other than 2xx is a failure, and redirects are not followed', async () => {
    const paths: string[] = [];
    using server = localServer((request) => {
      const { pathname } = new URL(request.url);
      paths.push(pathname);
      const headers = { Location: 'http://127.0.0.1:1/elsewhere', 'Retry-After': '30' };
      return new Response('the secret answer', { status: Number(pathname.slice(1)), headers });
    });
    const results = [];
    for (const status of [200, 202, 301, 302, 307, 308, 400, 401, 410, 500, 503])
      results.push(await send(`http://127.0.0.1:${server.port}/${status}`));
    expect(results.map(({ isDelivered, result }) => [isDelivered, result])).toEqual([
      ...[200, 202].map((status) => [true, String(status)]),
      ...[301, 302, 307, 308, 400, 401, 410, 500, 503].map((status) => [false, String(status)]),
    ]);
    expect(paths).toHaveLength(11);
    expect(JSON.stringify(results)).not.toContain('secret answer');
  });

  test('an endpoint that hangs, or sends its headers byte by byte, gets a timeout', async () => {
    using hanging = await rawServer(() => {});
    expect(await resultOf(hanging.url, { timeoutMs: 200 })).toBe('timeout');
    using dripping = await rawServer((socket) => {
      const timer = setInterval(() => socket.write('H'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    const { isDelivered } = await send(dripping.url, { timeoutMs: 300 });
    expect(isDelivered).toBe(false);
  });

  test('an endpoint that closes the connection before the end of the headers has not accepted the page', async () => {
    using closing = await rawServer((socket) => socket.end('HTTP/1.1 200'));
    expect((await send(closing.url)).isDelivered).toBe(false);
    using silent = await rawServer((socket) => socket.destroy());
    expect((await send(silent.url)).isDelivered).toBe(false);
  });

  /** Sends this again and again until the connection is closed. */
  function flood(socket: Socket, part: string): void {
    const more = () => {
      while (!socket.destroyed && socket.write(part));
    };
    socket.on('drain', more);
    more();
  }

  test('an endless body is cut off, long before its time limit if it is fast', async () => {
    let sentBytes = () => 0;
    using endless = await rawServer((socket) => {
      sentBytes = () => socket.bytesWritten;
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n');
      flood(socket, ' '.repeat(65_536));
    });
    expect(await send(endless.url)).toMatchObject({ isDelivered: true, result: '200' });
    // The connection is closed. Sockets buffer a few megabytes.
    await endless.closed;
    expect(sentBytes()).toBeLessThan(16 * 2 ** 20);
  });

  test('an endpoint may send ten interim responses, but not a flood of them', async () => {
    const INTERIM = 'HTTP/1.1 103 Early Hints\r\n\r\n';
    using polite = await rawServer((socket) =>
      socket.end(`${INTERIM.repeat(10)}HTTP/1.1 204 No Content\r\n\r\n`),
    );
    expect(await send(polite.url)).toMatchObject({ isDelivered: true, result: '204' });
    using endless = await rawServer((socket) => flood(socket, INTERIM.repeat(100)));
    expect(await send(endless.url, { timeoutMs: 10 * 60_000 })).toMatchObject({
      ...{ isDelivered: false, result: 'too many interim responses' },
    });
    await endless.closed;
  });

  test('attempts alternate between the addresses of a name', async () => {
    using server = localServer(() => new Response());
    // Nothing listens at the first address.
    const resolve = async () => ['127.0.0.9', '127.0.0.1'];
    const rules = addressRules(['127.0.0.1', '127.0.0.9']);
    const results = [];
    for (const failures of [0, 1, 2, 3]) {
      const url = `http://two.example:${server.port}/`;
      const request = { url, headers: {}, body: Buffer.from('{}'), failures, nowMs: 0 };
      results.push((await post(request, { rules, resolve })).result);
    }
    expect(results).toEqual(['connection refused', '200', 'connection refused', '200']);
  });
});

describe('addresses', () => {
  /** A server that counts requests; no test may reach it through a forbidden address. */
  let server: ReturnType<typeof localServer>;
  let reached = 0;
  let dns: TestDns;
  const resolve = (name: string) => dns.resolve(name);
  beforeEach(() => {
    reached = 0;
  });
  beforeAll(async () => {
    server = localServer(() => {
      reached++;
      return new Response();
    });
    dns = await TestDns.start();
  });
  afterAll(async () => {
    await server.stop(true);
    dns[Symbol.dispose]();
  });

  test('forbidden addresses are not contacted, in any notation', async () => {
    const hosts = [
      ...'127.0.0.1 127.1 0x7f.1 0x7f000001 0177.0.0.1 2130706433 127.0.0.1. ①②⑦.0.0.1 0'.split(' '),
      ...'localhost [::ffff:7f00:1] [::ffff:127.0.0.1] [::1] [0:0::1]'.split(' '),
    ];
    for (const scheme of ['http', 'https'])
      for (const host of hosts)
        expect(await resultOf(`${scheme}://${host}:${server.port}/`, { rules: PUBLIC_ONLY })).toBe(
          'forbidden address',
        );
    expect(reached).toBe(0);
  });

  test('a name is refused if any of its addresses is forbidden', async () => {
    dns.answers.set('two.example', [['127.0.0.1', '10.0.0.1']]);
    expect(await resultOf(`http://two.example:${server.port}/`, { resolve })).toBe('forbidden address');
    expect(reached).toBe(0);
  });

  test('a name is resolved once, so a changed answer has no effect', async () => {
    // The first answer is allowed. The second, which is not, must never be asked for.
    dns.answers.set('rebinding.example', [['127.0.0.1'], ['10.0.0.1']]);
    expect(await resultOf(`http://rebinding.example:${server.port}/`, { resolve })).toBe('200');
    expect([reached, dns.queries.get('rebinding.example')]).toEqual([1, 1]);
    // The next attempt resolves and checks again.
    expect(await resultOf(`http://rebinding.example:${server.port}/`, { resolve })).toBe('forbidden address');
    expect(reached).toBe(1);
  });

  test('a process that is frozen during the name lookup beyond the time limit sends nothing', async () => {
    const resolve = async () => {
      // The answer is handled before the timer, as after a freeze.
      Bun.sleepSync(60);
      return ['127.0.0.1'];
    };
    const frozen = await send(`http://frozen.example:${server.port}/`, { resolve, timeoutMs: 50 });
    const next = await send(`http://127.0.0.1:${server.port}/`);
    expect([frozen.result, next.result, reached]).toEqual(['timeout', '200', 1]);
  });

  test('a name that does not resolve is reported', async () => {
    expect(await resultOf('http://unknown.example/', { resolve })).toBe('name not found');
    expect(await resultOf('http://unknown.invalid/')).toBe('name not found');
  });

  test('proxies from the environment are not used', async () => {
    const before = process.env.HTTP_PROXY;
    process.env.HTTP_PROXY = 'http://127.0.0.1:1';
    try {
      expect(await resultOf(`http://127.0.0.1:${server.port}/`)).toBe('200');
    } finally {
      if (before === undefined) delete process.env.HTTP_PROXY;
      else process.env.HTTP_PROXY = before;
    }
  });

  test('HTTP without TLS is only for listed addresses', async () => {
    const resolve = async () => ['1.1.1.1'];
    expect(await resultOf('http://public.example/', { resolve })).toBe('forbidden address');
  });
});

test('the certificate must match the host name, which is also sent in the Host header', async () => {
  const { certificate, key } = await newCertificate(temporaryFolder(), 'webhook');
  const ca = readFileSync(certificate, 'utf8');
  const hosts: (string | null)[] = [];
  const answer = (request: Request) => {
    hosts.push(request.headers.get('Host'));
    return new Response();
  };
  using server = localServer(answer, { cert: ca, key: readFileSync(key, 'utf8') });
  const resolve = async () => ['127.0.0.1'];
  const [right, wrong] = [`https://localhost:${server.port}/`, `https://other.example:${server.port}/`];
  expect(await resultOf(right, { resolve, ca })).toBe('200');
  expect(await resultOf(wrong, { resolve, ca })).toBe('TLS failed');
  expect(await resultOf(right, { resolve })).toBe('TLS failed');
  expect(hosts).toEqual([`localhost:${server.port}`]);
});
