// A real browser for tests.

import { type Browser, chromium } from 'playwright-core';
import { PROGRAMS, requireProgram } from './programs.ts';

const LAUNCH_TIMEOUT_MS = 30_000;

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

/** Starts a browser. The caller closes it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: requireProgram(PROGRAMS.chromium),
    args: FLAGS,
    timeout: LAUNCH_TIMEOUT_MS,
  });
}
