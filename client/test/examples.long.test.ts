// Runs the examples with Node as their README describes, in a project where the package is installed.

import { expect, test } from 'bun:test';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { launchBrowser } from '../../service/test/support/browser.ts';
import { cleanEnvironment } from '../../service/test/support/command.ts';
import { temporaryFolder } from '../../service/test/support/databases.ts';
import { offer, retailer, transaction } from '../../service/test/support/fixtures.ts';
import { lacks } from '../../service/test/support/programs.ts';
import { TestNode } from '../../service/test/support/test-node.ts';
import { installPackage, run, TYPESCRIPT } from './support/installed-package.ts';

const EXAMPLES = join(import.meta.dir, '../../examples');
const { folder: project } = await installPackage();
cpSync(EXAMPLES, project, { recursive: true });

test.skipIf(lacks('chromium'))('offers-page lists offers page by page and filters them', async () => {
  await using node = await TestNode.start({ settings: { pageSize: 2 } });
  await using site = await startServer('offers-page', {});
  const token = await node.token('public');
  await node.catalogue([
    retailer(1, {
      name: 'Alpha <b>',
      cashbackOffers: [offer(11), offer(12, { maximumFixedCommissionFee: 7.5 })],
    }),
    retailer(2, {
      name: 'Beta',
      cashbackOffers: [offer(13, { countries: ['AT'], cashbackPercentage: 0.075 })],
    }),
  ]);
  await using browser = await launchBrowser();
  const page = await browser.newPage();
  await page.goto(`${site.url}?api=${node.url}&token=${token}&currency=EUR`);
  const items = page.locator('li');
  await items.nth(1).waitFor();
  expect(await items.allTextContents()).toEqual(['Alpha <b> 5% Offer 11', 'Alpha <b> €7.50 Offer 12']);

  await page.click('#more');
  await items.nth(2).waitFor();
  expect(await items.last().textContent()).toBe('Beta 7.5% Offer 13');
  expect(await page.isHidden('#more')).toBe(true);

  await page.fill('[name=country]', 'at');
  await page.click('[type=submit]');
  await page.locator('li:only-child').waitFor();
  expect(await items.allTextContents()).toEqual(['Beta 7.5% Offer 13']);

  await page.fill('[name=country]', '??');
  await page.click('[type=submit]');
  await page.locator('[role=alert]:not(:empty)').waitFor();
  expect(await page.textContent('[role=alert]')).toContain('country must be a two-letter country code');
});

test.skipIf(lacks('chromium'))('offers-page shows what is wrong with its token', async () => {
  await using site = await startServer('offers-page', {});
  await using browser = await launchBrowser();
  const page = await browser.newPage();
  const errors: Error[] = [];
  page.on('pageerror', (error) => errors.push(error));
  for (const [search, words] of [
    ['', 'Add ?token=ob_pub_… to the address of this page.'],
    ['?token=', 'Add ?token=ob_pub_… to the address of this page.'],
    ['?token=hello', 'The token must start with ob_pub_'],
    ['?token=ob_prv_0', 'A private token must not be used in a browser'],
  ] as const) {
    await page.goto(`${site.url}${search}`);
    await page.locator('[role=alert]:not(:empty)').waitFor();
    expect(await page.textContent('[role=alert]')).toStartWith(words);
  }
  expect(errors).toEqual([]);
});

test('the examples have no type errors', async () => {
  const checked = await run([TYPESCRIPT, '--noEmit', '--project', '.'], EXAMPLES);
  expect(checked).toEqual({ stdout: '', stderr: '' });
});

test('transactions-table follows changes and resumes where it stopped after a restart', async () => {
  await using node = await TestNode.start();
  const token = await node.token('private');
  const table = join(temporaryFolder(), 'copy.json');
  const settings = { OFFERBOOK_URL: node.url, OFFERBOOK_PRIVATE_TOKEN: token, TABLE: table };
  const earnings = async (url: string) => (await fetch(`${url}users/user-1`)).json();
  const until = async (url: string, expected: unknown) => {
    while (!Bun.deepEquals(await earnings(url), expected)) await Bun.sleep(10);
  };

  await node.transactions([transaction(1, { cashback: 3.99 }), transaction(2)]);
  const first = await startServer('transactions-table', settings);
  // The earnings of users must not be reachable from the network.
  expect(new URL(first.url).hostname).toBe('127.0.0.1');
  await until(first.url, { PENDING: { EUR: 3.99 } });
  await node.transactions([transaction(1, { status: 'CONFIRMED', cashback: 4.5 })]);
  await until(first.url, { CONFIRMED: { EUR: 4.5 } });
  expect(await first.stop()).toBe(0);

  await node.transactions([transaction(3, { passbackUid: 'user-1', currencyCode: 'PLN', cashback: 1.5 })]);
  const second = await startServer('transactions-table', settings);
  await until(second.url, { CONFIRMED: { EUR: 4.5 }, PENDING: { PLN: 1.5 } });
  // A malformed request gets 404 and does not end the server.
  expect((await fetch(`${second.url}users/%`)).status).toBe(404);
  expect(await second.stop()).toBe(0);
});

test.skipIf(lacks('git'))('git ignores the file that transactions-table writes by default', async () => {
  const source = await Bun.file(join(EXAMPLES, 'transactions-table/server.js')).text();
  const [, name = ''] = /env\.TABLE \?\? '([^']+)'/.exec(source) ?? [];
  const ignored = Bun.spawnSync(['git', 'check-ignore', name, `${name}.new`], { cwd: join(EXAMPLES, '..') });
  expect(ignored.stdout.toString()).toBe(`${name}\n${name}.new\n`);
});

async function startServer(example: string, environment: Record<string, string>) {
  const server = Bun.spawn(['node', join(example, 'server.js')], {
    cwd: project,
    env: { ...cleanEnvironment(), ...environment, PORT: '0' },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const { value } = await server.stdout.getReader().read();
  const url = new TextDecoder().decode(value).replace('Listening on ', '').trim();
  const stop = async () => {
    server.kill('SIGTERM');
    return server.exited;
  };
  return { url, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}
