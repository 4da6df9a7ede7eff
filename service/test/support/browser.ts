// A real browser for tests.

import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { type Program, requireProgram } from './programs.ts';

/** The one without windows comes first: the same engine, which takes less than half the processor time. */
const CHROMIUM: Program = {
  names: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
  debianPackage: 'chromium-headless-shell',
  need: 'The browser tests need Chromium',
};
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
    executablePath: chosenBrowser() ?? requireProgram(CHROMIUM),
    args: FLAGS,
    timeout: LAUNCH_TIMEOUT_MS,
  });
}

function chosenBrowser(): string | undefined {
  const chosen = process.env.TEST_BROWSER;
  if (chosen !== undefined && !existsSync(chosen)) {
    throw new Error(`TEST_BROWSER names ${chosen}, which does not exist`);
  }
  return chosen;
}
