// Takes the screenshots in docs/images of the explorer, the documentation and the console, from a new sandbox. Ports 8080 and
// 8081 must be free. Takes about five minutes, so that the console has some minutes of requests to plot.

import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../service/test/support/browser.ts';
import { commandLine } from '../service/test/support/command.ts';
import { removeTemporaryFolders, temporaryFolder } from '../service/test/support/databases.ts';
import { Sandbox } from '../service/test/support/sandbox.ts';

const SITE = 'http://localhost:8080';
const CONSOLE = 'http://localhost:8081';
const TRAFFIC_MS = 4 * 60_000;

const cwd = temporaryFolder();
const { run } = commandLine(() => ({
  cwd,
  env: { OFFERBOOK_DATABASE_URL: 'sqlite:./offerbook-sandbox.db' },
}));
try {
  await using sandbox = await Sandbox.start(cwd, '--port', '8080', '--admin-port', '8081');
  const browser = await launchBrowser();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
  await shootSite(page);
  await addProblems();
  await sendRequests(sandbox);
  await shootConsole(page);
  await browser.close();
} finally {
  removeTemporaryFolders();
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
  await page.screenshot({ path: join(import.meta.dir, '../docs/images', name) });
}

/** Causes warnings on the overview: a token that expires soon, and a rejected import. */
async function addProblems(): Promise<void> {
  await run('orgs create northwind');
  await run('tokens issue --org northwind --kind private --expires 5d');
  const stdin = 'id,status\n1,PAID\n2,PAID\n';
  await run('import transactions - --org northwind --source awin', { stdin });
}

/** Sends varying numbers of requests per second, now and then one with an error, and some clicks. */
async function sendRequests(sandbox: Sandbox): Promise<void> {
  const headers = { Authorization: `Bearer ${sandbox.token('pub')}` };
  const get = (path: string) => fetch(SITE + path, { headers, redirect: 'manual' });
  const { data } = await sandbox.get<{ data: { id: string }[] }>('/v1/cashback-offers/?limit=100', 'pub');
  const untilMs = performance.now() + TRAFFIC_MS;
  for (let i = 0; performance.now() < untilMs; i++) {
    const list = ['retailers', 'cashback-offers', 'coupons', 'promotions'][i % 4];
    await (await get(`/v1/${list}/?limit=${i % 23 === 0 ? 'all' : 100}`)).text();
    const offer = data[i % data.length]?.id;
    if (i % 20 === 0)
      await get(`/v1/cashback-offers/${offer}/activate/?orgId=${sandbox.orgId}&passbackUid=user-${i % 90}`);
    await Bun.sleep(150 + 100 * Math.sin(i / 150));
  }
}
