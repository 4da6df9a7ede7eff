// Takes the screenshots of the explorer and the documentation in docs/images, from a new sandbox. Port 8080 must be free.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchBrowser } from '../service/test/support/browser.ts';

const ROOT = join(import.meta.dir, '..');
const URL_BASE = 'http://localhost:8080';
const READY_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'offerbook-screenshots-'));
const sandbox = Bun.spawn(
  [
    join(ROOT, 'node_modules/.bin/offerbook'),
    'sandbox',
    '--port',
    '8080',
    '--database',
    `sqlite:${folder}/data.db`,
  ],
  { stdout: 'ignore', stderr: 'inherit' },
);
try {
  await untilReady();
  await takeScreenshots();
} finally {
  sandbox.kill();
  await sandbox.exited;
  rmSync(folder, { recursive: true });
}

async function untilReady(): Promise<void> {
  const deadlineMs = performance.now() + READY_MS;
  while (!(await isReady())) {
    if (sandbox.exitCode !== null) throw new Error('the sandbox did not start');
    if (performance.now() > deadlineMs) throw new Error('the sandbox was not ready in time');
    await Bun.sleep(200);
  }
}

async function isReady(): Promise<boolean> {
  try {
    return (await fetch(`${URL_BASE}/readyz`)).ok;
  } catch {
    return false;
  }
}

async function takeScreenshots(): Promise<void> {
  const browser = await launchBrowser();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
  const save = async (name: string) => {
    await page.waitForLoadState('networkidle');
    await page.screenshot({ path: join(ROOT, 'docs/images', name) });
  };
  await page.goto(URL_BASE);
  await page.locator('.card:not(.skeleton)').first().waitFor();
  await save('explorer-light.png');
  await page.locator('.card a').first().click();
  await page.locator('.activate').first().waitFor();
  await save('activation.png');
  // Tall enough for the picture of a transaction's life.
  await page.setViewportSize({ width: 1280, height: 960 });
  await page.goto(`${URL_BASE}/docs`);
  await save('documentation.png');
  await browser.close();
}
