// A page in a real browser that records its errors and its requests.

import { expect } from 'bun:test';
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { newTokenText } from '../../src/domain/access-token.ts';
import { launchBrowser } from '../support/browser.ts';
import { TestNode, type TestNodeOptions } from '../support/test-node.ts';
import { testsWith } from '../support/tests-with.ts';

/** An init script that records layout shifts (elements that move without user input) in the global `shifts`. */
export const RECORD_SHIFTS = `shifts = []; new PerformanceObserver((list) => {
  for (const { hadRecentInput, sources } of list.getEntries()) {
    if (!hadRecentInput) shifts.push(...sources.map(({ node }) => node?.className ?? ''));
  }
}).observe({ type: 'layout-shift', buffered: true })`;

/** The browser's complaint about a response with this status. */
export function failedToLoad(status: string): string {
  return `Failed to load resource: the server responded with a status of ${status}`;
}

/** Test functions for a file that needs Chromium, and a function that opens pages in a browser for the whole file. */
export function testsWithBrowser() {
  const tests = testsWith('chromium');
  let browser: Browser;
  tests.beforeAll(async () => {
    browser = await launchBrowser();
  });
  tests.afterAll(() => browser?.close());
  return {
    ...tests,
    openPage: (url: string, options: BrowserContextOptions = {}, initScript = '') =>
      WatchedPage.open(browser, url, options, initScript),
  };
}

/** Starts a node with a valid public token in its pages. */
export async function startWithPageToken(options: TestNodeOptions = {}): Promise<TestNode> {
  const pageToken = newTokenText('public');
  const node = await TestNode.start({ ...options, pageToken });
  await node.keep(pageToken, 'public');
  return node;
}

export class WatchedPage implements AsyncDisposable {
  readonly page: Page;
  readonly requests: readonly Request[];
  /** Console errors and warnings, uncaught errors, and Content-Security-Policy violations. */
  readonly #complaints: string[];

  private constructor(page: Page, requests: readonly Request[], complaints: string[]) {
    this.page = page;
    this.requests = requests;
    this.#complaints = complaints;
  }

  static async open(
    browser: Browser,
    url: string,
    options: BrowserContextOptions,
    initScript: string,
  ): Promise<WatchedPage> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    await context.addInitScript(initScript);
    const page = await context.newPage();
    // A little shorter than the limit of a test, because this one fails with the state of the page.
    page.setDefaultTimeout(100_000);
    const requests: Request[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => requests.push(request));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(url);
    return new WatchedPage(page, requests, complaints);
  }

  get origins(): Set<string> {
    return new Set(this.requests.map((request) => new URL(request.url()).origin));
  }

  /** Names of the retailers in the list, in order. */
  names(): Promise<string[]> {
    return this.page.locator('.card h2').allTextContents();
  }

  status() {
    return this.page.getByRole('status').first();
  }

  /** Waits until the status line shows this text. */
  async says(words: string): Promise<void> {
    await this.page.getByRole('status').getByText(words, { exact: true }).waitFor();
  }

  /** Returns the complaints that the test expects, and forgets them. */
  takeComplaints(): string[] {
    return this.#complaints.splice(0);
  }

  /** Closes the page. Throws if there are complaints that takeComplaints() has not returned. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close();
    expect(this.#complaints).toEqual([]);
  }
}
