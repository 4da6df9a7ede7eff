// Access to the admin port, and the absence of the console from the public port.

import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BadInput } from '@offerbook/wire/failures.ts';
import { openAdminAccess } from '../../src/cli/node/admin-access.ts';
import { readServeSettings } from '../../src/config.ts';
import { temporaryFolder } from '../support/databases.ts';
import { TestNode } from '../support/test-node.ts';
import { ConsoleNode } from './open-console.ts';

const SECRET = 'correct-horse-battery-staple';

function secretFile(content = `${SECRET}\n`): string {
  const path = join(temporaryFolder(), 'admin-token');
  writeFileSync(path, content);
  return path;
}

const basic = (password: string, user = 'anybody') => ({
  Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe('with a configured secret', () => {
  test('the console and the metrics require the secret as password or bearer token, probes do not, and no cookie is set', async () => {
    await using console = await ConsoleNode.start({ settings: { adminTokenFile: secretFile() } });
    const status = async (path: string, headers = {}) => (await console.get(path, headers)).status;
    const ways = [
      {},
      basic(SECRET),
      bearer(SECRET),
      basic(`${SECRET}x`),
      bearer('no'),
      { Authorization: SECRET },
    ];
    for (const path of ['/', '/metrics', '/transactions', '/assets/console.js', '/nothing-here']) {
      const found = path === '/nothing-here' ? 404 : 200;
      const statuses = await Promise.all(ways.slice(0, 3).map((headers) => status(path, headers)));
      expect([path, ...statuses]).toEqual([path, 401, found, found]);
    }
    for (const headers of ways.slice(3)) expect(await status('/', headers)).toBe(401);
    expect([await status('/livez'), await status('/readyz')]).toEqual([200, 200]);
    const challenged = await console.get('/');
    expect(challenged.headers.get('WWW-Authenticate')).toBe(
      'Basic realm="Offerbook console", charset="UTF-8"',
    );
    const page = await console.get('/', basic(SECRET));
    expect([challenged, page].map(({ headers }) => headers.get('Set-Cookie'))).toEqual([null, null]);
    expect(console.node.logLines.join('')).not.toContain(SECRET);
  });

  test('ten wrong secrets in a minute cause 429 responses, the right secret is still accepted, and requests without a secret do not count', async () => {
    await using console = await ConsoleNode.start({ settings: { adminTokenFile: secretFile() } });
    const statuses = async (count: number, headers: Record<string, string>) => {
      const seen = new Set<number>();
      for (let i = 0; i < count; i++) seen.add((await console.get('/', headers)).status);
      return [...seen];
    };
    expect(await statuses(20, {})).toEqual([401]);
    expect(await statuses(10, bearer('wrong'))).toEqual([401]);
    expect(await statuses(50, bearer('wrong'))).toEqual([429]);
    const refused = await console.get('/', bearer('wrong'));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('Retry-After'))).toBeWithin(1, 61);
    expect(await statuses(1, {})).toEqual([401]);
    expect(await statuses(2, bearer(SECRET))).toEqual([200]);
    expect(await statuses(2, basic(SECRET))).toEqual([200]);
    expect((await console.get('/readyz')).status).toBe(200);
    // Beyond ten in ten seconds, refusals are only counted. The next line, if any, contains their number.
    const lines = console.node.logLines.filter((line) =>
      line.includes('rejected a request to the admin port'),
    );
    expect(lines.length).toBeLessThan(60);
  });

  test('wrong secrets are counted per network, so all addresses in an IPv6 network share the limit', () => {
    const refuse = openAdminAccess(
      readServeSettings({ adminPort: '8081', adminTokenFile: secretFile() }, {}),
    );
    const statusFrom = (address: string) =>
      refuse(new Request('http://localhost/', { headers: bearer('wrong') }), address)?.status;
    const statuses = Array.from({ length: 11 }, (_, i) => statusFrom(`2001:db8:0:1::${i + 1}`));
    expect(statuses).toEqual([...Array(10).fill(401), 429]);
    expect(statusFrom('2001:db8:0:2::1')).toBe(401);
  });

  const open = (secret: string) => () =>
    openAdminAccess(readServeSettings({ adminPort: '8081', adminTokenFile: secretFile(secret) }, {}));

  test('a secret must have at least 20 characters', () => {
    expect(open(SECRET.slice(0, 20))).not.toThrow();
    expect(open(SECRET.slice(0, 19))).toThrow('must contain one line of at least 20 characters');
  });

  test.each([
    'x'.repeat(40),
    'abc'.repeat(8),
    '12345678901234567890',
    'abcdefghijklmnopqrstuvwxyz',
    'zyxwvutsrqponmlkjihgfedcba',
    'MyPassword-for-Offerbook',
    'please-changeme-please-1',
  ])('a secret that is easy to guess is rejected: %s', (secret) => {
    expect(open(secret)).toThrow('is easy to guess; replace it with the output of openssl rand -base64 24');
  });

  test('random secrets are accepted, in base64 and in hexadecimal digits', () => {
    for (let i = 0; i < 200; i++) {
      const bytes = crypto.getRandomValues(Buffer.alloc(24));
      expect(open(bytes.toString('base64'))).not.toThrow();
      expect(open(bytes.toString('hex').slice(0, 20))).not.toThrow();
    }
  });

  test.each(['', 'short\n', 'two words that are long enough', 'one-line-that-is-long-enough\nand-another'])(
    'a secret file that contains %j is rejected, and the error does not repeat it',
    (content) => {
      expect(open(content)).toThrow(BadInput);
      expect(open(content)).toThrow(
        /^--admin-token-file \/\S+\/admin-token must contain one line of at least 20 characters without spaces, such as the output of openssl rand -base64 24$/,
      );
    },
  );

  test('a missing secret file is rejected', () => {
    const adminTokenFile = join(temporaryFolder(), 'none');
    const settings = readServeSettings({ adminPort: '8081', adminTokenFile }, {});
    expect(() => openAdminAccess(settings)).toThrow(/cannot be read \(ENOENT\)/);
  });
});

describe('without a configured secret', () => {
  test('the admin port listens only on this machine', () => {
    const read =
      (adminHost: string, more = {}) =>
      () =>
        readServeSettings({ adminHost, ...more }, {});
    for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost'])
      expect(read(host)().adminHost).toBe(host);
    for (const host of ['0.0.0.0', '::', '192.0.2.1', '127.0.0.1.example', 'admin.internal'])
      expect(read(host)).toThrow(
        `--admin-host ${host} is reachable from other machines; also set --admin-token-file`,
      );
    expect(read('127.0.0.1', { adminTokenFile: 'x' })).toThrow(
      '--admin-token-file needs --admin-port, which serves the console and /metrics',
    );
    expect(read('0.0.0.0', { adminPort: '8081', adminTokenFile: 'x' })().adminHost).toBe('0.0.0.0');
  });

  test('a web page whose host name resolves to this machine cannot read the console (DNS rebinding)', async () => {
    await using console = await ConsoleNode.start();
    const port = new URL(console.url).port;
    const status = async (Host: string, path = '/') => (await console.get(path, { Host })).status;
    expect(
      await Promise.all(['localhost', `127.0.0.1:${port}`, `[::1]:${port}`].map((h) => status(h))),
    ).toEqual([200, 200, 200]);
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      'localhost.evil.example',
      '127.0.0.1:80:80',
      '127.0.0.1:99999',
      'localhost/x',
    ])
      expect([await status(host), await status(host, '/metrics')]).toEqual([421, 421]);
    expect(await status('evil.example', '/readyz')).toBe(200);
  });
});

describe('forms submitted to the console', () => {
  const post = async (console: ConsoleNode, headers: Record<string, string>) => {
    const body = new URLSearchParams({ q: 'x' });
    return (await fetch(`${console.url}/transactions`, { method: 'POST', body, headers })).status;
  };

  test('a form is rejected from a page of another origin, and accepted from the console and from programs', async () => {
    await using console = await ConsoleNode.start();
    const { host, origin } = new URL(console.url);
    const statuses = [];
    for (const headers of [
      {},
      { Origin: origin },
      { Origin: `https://${host}` },
      { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://proxy.example' },
      { 'Sec-Fetch-Site': 'none' },
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: `${origin}0` },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site', Origin: origin },
    ] as Record<string, string>[])
      statuses.push(await post(console, headers));
    expect(statuses).toEqual([200, 200, 200, 200, 200, 403, 403, 403, 403, 403]);
    // Pages may link to the console.
    const headers = { 'Sec-Fetch-Site': 'cross-site' };
    for (const method of ['GET', 'HEAD'])
      expect((await fetch(console.url, { method, headers })).status).toBe(200);
  });

  test('a form from a page of another origin is rejected even with the secret, which browsers add', async () => {
    await using console = await ConsoleNode.start({ settings: { adminTokenFile: secretFile() } });
    const refused = await post(console, { ...basic(SECRET), Origin: 'https://evil.example' });
    expect([refused, await post(console, basic(SECRET))]).toEqual([403, 200]);
  });
});

test('the public port does not serve any part of the console', async () => {
  await using node = await TestNode.start();
  const own = [
    '/catalogue',
    '/imports',
    '/imports/1',
    '/organisations',
    '/webhooks',
    '/pulls',
    '/transactions',
    '/totals',
    '/clicks',
  ];
  for (const path of [...own, '/assets/console.js', '/assets/console.css', '/metrics'])
    expect([path, (await node.get(path)).status]).toEqual([path, 404]);
  for (const path of ['/', '/errors/', ...own]) {
    const page = await (await node.get(path, undefined, { Accept: 'text/html' })).text();
    expect(page).not.toContain('Offerbook console');
  }
});
