// The client hosted by a service: installed with the README's command, and imported as a module with its types.

import { afterAll, expect, test } from 'bun:test';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../service/test/support/databases.ts';
import { lacks } from '../../service/test/support/programs.ts';
import { TestNode } from '../../service/test/support/test-node.ts';
import manifest from '../package.json';
import { run } from './support/installed-package.ts';

const DENO = join(import.meta.dir, '../../node_modules/.bin/deno');
const SHORT = '/client/offerbook-client.tgz';

const node = await TestNode.start();

afterAll(() => node[Symbol.asyncDispose]());

const get = (path: string, method = 'GET') => fetch(node.url + path, { method, redirect: 'manual' });

test('the short address redirects to an immutable address with the version and a content hash', async () => {
  const redirect = await get(SHORT);
  const location = redirect.headers.get('Location') ?? '';
  expect([redirect.status, redirect.headers.get('Cache-Control')]).toEqual([302, 'no-cache']);
  expect(location).toStartWith(`${node.url}/client/offerbook-client-${manifest.version}-`);
  const tarball = await fetch(location);
  expect([tarball.status, tarball.headers.get('Content-Type'), tarball.headers.get('Cache-Control')]).toEqual(
    [200, 'application/gzip', 'public, max-age=31536000, immutable'],
  );
  const [, hash] = /-([0-9a-z]+)\.tgz$/.exec(location) ?? [];
  expect(Bun.hash.xxHash3(await tarball.arrayBuffer()).toString(36)).toBe(hash ?? '');
  expect((await get(SHORT, 'HEAD')).headers.get('Location')).toBe(location);
});

test('the address of a different version returns 404, and the error contains the current address', async () => {
  const path = new URL((await get(SHORT)).headers.get('Location') ?? '').pathname;
  for (const other of ['offerbook-client-0.0.9-0.tgz', 'offerbook-client-0.1.0.tgz', 'nonsense']) {
    const answer = await get(`/client/${other}`);
    expect([answer.status, ((await answer.json()) as { detail: string }).detail]).toEqual([
      404,
      `This service hosts one version of the client, at ${path}.`,
    ]);
  }
  expect((await get('/client/types/package.json')).status).toBe(404);
});

test.skipIf(lacks('curl'))("the README's command locks the address that npm ci installs from", async () => {
  const readme = readFileSync(join(import.meta.dir, '../README.md'), 'utf8');
  const [, command = ''] = /^```sh install\n(.*?)^```$/ms.exec(readme) ?? [];
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const quiet = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_cache: temporaryFolder() };
  await run(['sh', '-euc', command.replaceAll('http://localhost:8080', node.url)], folder, quiet);
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { resolved: string }>;
  };
  expect(lock.packages['node_modules/@offerbook/client']?.resolved).toBe(
    (await get(SHORT)).headers.get('Location') ?? '',
  );
  rmSync(join(folder, 'node_modules'), { recursive: true });
  await run(['npm', 'ci'], folder, quiet);
  const program = "import('@offerbook/client').then((m) => console.log(typeof m.OfferbookClient))";
  expect((await run(['node', '-e', program], folder)).stdout).toBe('function\n');
});

test('Deno type-checks a program against the types of the served module', async () => {
  const folder = temporaryFolder();
  const check = (name: string, statement: string) => {
    const source = `import { OfferbookClient } from '${node.url}/client/offerbook-client.js';
import { verifyWebhook } from '${node.url}/client/offerbook-client-webhooks.js';
const client = new OfferbookClient({ baseUrl: 'https://api.example', token: 'ob_pub_x' });
${statement}\n`;
    writeFileSync(join(folder, name), source);
    return run([DENO, 'check', '--no-lock', '--quiet', '--allow-import', name], folder, {
      DENO_DIR: join(folder, 'cache'),
      NO_COLOR: '1',
    });
  };
  await check(
    'right.ts',
    `for await (const { code } of client.coupons()) console.log(code.length);
const { data } = await verifyWebhook({ headers: new Headers(), body: '', secret: '' });
console.log(data.transactions.map(({ updatedAt }) => updatedAt.length));`,
  );
  const wrong = check(
    'wrong.ts',
    'for await (const { code } of client.coupons()) console.log(code / 2);\nclient.nonsense();',
  );
  await expect(wrong).rejects.toThrow(/TS2362.*TS2339/s);
});
