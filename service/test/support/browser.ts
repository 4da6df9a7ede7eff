// A real browser for tests. One that is missing is installed where that is possible; where it is not, the
// test fails with the command that installs it. No test is ever skipped for want of a browser.

import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const INSTALL = ['apt-get', 'install', '--yes', '--no-install-recommends', 'chromium'];
const LAUNCH_TIMEOUT_MS = 30_000;

const FLAGS = [
  '--headless',
  // As root, Chromium does not start inside its sandbox; tests open our own pages only.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  // Nothing but what a test does may go over the network.
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts a browser; whoever starts it closes it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findBrowser() ?? installBrowser(),
    args: FLAGS,
    timeout: LAUNCH_TIMEOUT_MS,
  });
}

function findBrowser(): string | undefined {
  const chosen = process.env.OFFERBOOK_TEST_BROWSER;
  if (chosen !== undefined) {
    if (!existsSync(chosen)) throw new Error(`OFFERBOOK_TEST_BROWSER names ${chosen}, which does not exist`);
    return chosen;
  }
  return NAMES.map((name) => Bun.which(name)).find((path) => path !== null) ?? undefined;
}

function installBrowser(): string {
  const mayInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version');
  if (mayInstall) {
    Bun.spawnSync(['apt-get', 'update'], { stdout: 'ignore', stderr: 'ignore' });
    Bun.spawnSync(INSTALL, {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdout: 'ignore',
      stderr: 'inherit',
    });
  }
  const installed = findBrowser();
  if (installed === undefined) {
    throw new Error(`The browser tests need Chromium. Install it with: sudo ${INSTALL.join(' ')}`);
  }
  return installed;
}
