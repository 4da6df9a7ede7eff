// A real browser for tests.

import { type Browser, type BrowserServer, chromium } from 'playwright-core';
import { PROGRAMS, requireProgram } from './programs.ts';

const LAUNCH_TIMEOUT_MS = 100_000;

export const FLAGS = [
  '--headless',
  // Chromium's sandbox does not work for root. Tests open only our own pages.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  // Only the tests themselves may use the network.
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const options = () => ({
  executablePath: requireProgram(PROGRAMS.chromium),
  args: FLAGS,
  timeout: LAUNCH_TIMEOUT_MS,
});

/** Connects to the browser of the test run, or starts one. The caller closes it, which closes only its own pages. */
export function launchBrowser(): Promise<Browser> {
  const endpoint = process.env.TEST_BROWSER_ENDPOINT;
  return endpoint === undefined ? chromium.launch(options()) : chromium.connect(endpoint);
}

/** Starts a browser whose address other processes get as TEST_BROWSER_ENDPOINT. */
export function shareBrowser(): Promise<BrowserServer> {
  return chromium.launchServer(options());
}
