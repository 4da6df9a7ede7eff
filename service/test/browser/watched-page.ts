// A page in a real browser that records its errors and its requests.

import { expect } from 'bun:test';
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';

/** An init script that records layout shifts (elements that move without user input) in the global `shifts`. */
export const RECORD_SHIFTS = `shifts = []; new PerformanceObserver((list) => {
  for (const { hadRecentInput, sources } of list.getEntries()) {
    if (!hadRecentInput) shifts.push(...sources.map(({ node }) => node?.className ?? ''));
  }
}).observe({ type: 'layout-shift', buffered: true })`;

export class WatchedPage implements AsyncDisposable {
  readonly page: Page;
  readonly requests: readonly Request[];
  /** Console errors and warnings, uncaught errors, and Content-Security-Policy violations. */
  readonly complaints: readonly string[];

  private constructor(page: Page, requests: readonly Request[], complaints: readonly string[]) {
    this.page = page;
    this.requests = requests;
    this.complaints = complaints;
  }

  static async open(
    browser: Browser,
    url: string,
    options: BrowserContextOptions = {},
    initScript = '',
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

  expectCalm(): void {
    expect(this.complaints).toEqual([]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close();
  }
}
