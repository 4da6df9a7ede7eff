// Takes the screenshots in docs/images of the explorer, the documentation and the console, from a new sandbox. Ports 8080 and
// 8081 must be free. Takes about five minutes, so that the console has some minutes of requests to plot.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../service/test/support/browser.ts';
import { until } from '../service/test/support/until.ts';

const ROOT = join(import.meta.dir, '..');
const OFFERBOOK = join(ROOT, 'node_modules/.bin/offerbook');
const SITE = 'http://localhost:8080';
const CONSOLE = 'http://localhost:8081';
const TRAFFIC_MS = 4 * 60_000;

const folder = mkdtempSync(join(tmpdir(), 'offerbook-screenshots-'));
const database = `sqlite:${folder}/data.db`;
const ports = ['--port', '8080', '--admin-port', '8081'];
const sandbox = Bun.spawn([OFFERBOOK, 'sandbox', ...ports, '--database', database], {
  stdout: 'ignore',
  stderr: 'inherit',
});
try {
  await until(isReady);
  const browser = await launchBrowser();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
  await shootSite(page);
  await addProblems();
  await sendRequests();
  await shootConsole(page);
  await browser.close();
} finally {
  sandbox.kill();
  await sandbox.exited;
  rmSync(folder, { recursive: true });
}

async function isReady(): Promise<boolean> {
  try {
    return (await fetch(`${SITE}/readyz`)).ok;
  } catch {
    return false;
  }
}

async function shootSite(page: Page): Promise<void> {
  await page.goto(SITE);
  await page.locator('.card:not(.skeleton)').first().waitFor();
  await save(page, 'explorer-light.png');
  await page.locator('.card a').first().click();
  await page.locator('.activate').first().waitFor();
  await save(page, 'activation.png');
  // Tall enough for the picture of a transaction's life.
  await page.setViewportSize({ width: 1280, height: 1040 });
  await page.goto(`${SITE}/docs`);
  await save(page, 'documentation.png');
}

async function shootConsole(page: Page): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(CONSOLE);
  await save(page, 'console-light.png');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(`${CONSOLE}/totals?currency=EUR&by=day`);
  await save(page, 'console-dark.png');
}

async function save(page: Page, name: string): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: join(ROOT, 'docs/images', name) });
}

/** Causes warnings on the overview: a token that expires soon, and a rejected import. */
async function addProblems(): Promise<void> {
  await run('orgs', 'create', 'Northwind Bank');
  await run('tokens', 'issue', '--org', 'Northwind Bank', '--kind', 'private', '--expires', '5d');
  const file = join(folder, 'sales.csv');
  await Bun.write(file, 'id,status\n1,PAID\n2,PAID\n');
  await run('import', 'transactions', file, '--org', 'Northwind Bank', '--source', 'awin').catch(() => {});
}

async function run(...args: readonly string[]): Promise<void> {
  const child = Bun.spawn([OFFERBOOK, ...args], {
    env: { ...process.env, OFFERBOOK_DATABASE_URL: database },
    stdout: 'ignore',
    stderr: 'ignore',
  });
  const code = await child.exited;
  if (code !== 0) throw new Error(`offerbook ${args.join(' ')} exited with ${code}`);
}

/** Sends varying numbers of requests per second, now and then one with an error, and some clicks. */
async function sendRequests(): Promise<void> {
  const page = await (await fetch(SITE)).text();
  const token = /name="offerbook-token" content="(\w+)"/.exec(page)?.[1] ?? '';
  const orgId = /name="offerbook-org" content="([0-9a-f-]+)"/.exec(page)?.[1] ?? '';
  const get = (path: string) =>
    fetch(SITE + path, { headers: { Authorization: `Bearer ${token}` }, redirect: 'manual' });
  const { data } = (await (await get('/v1/cashback-offers/?limit=100')).json()) as { data: { id: string }[] };
  const untilMs = performance.now() + TRAFFIC_MS;
  for (let i = 0; performance.now() < untilMs; i++) {
    const list = ['retailers', 'cashback-offers', 'coupons', 'promotions'][i % 4];
    await (await get(`/v1/${list}/?limit=${i % 23 === 0 ? 'all' : 100}`)).text();
    const offer = data[i % data.length]?.id;
    if (i % 20 === 0)
      await get(`/v1/cashback-offers/${offer}/activate/?orgId=${orgId}&passbackUid=user-${i % 90}`);
    await Bun.sleep(150 + 100 * Math.sin(i / 150));
  }
}
