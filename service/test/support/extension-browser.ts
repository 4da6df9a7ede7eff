// Chromium with the example extension. Extensions need the whole browser; the headless shell ignores them.

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page, type Worker } from 'playwright-core';
import { FLAGS } from './browser.ts';
import { temporaryFolder } from './databases.ts';
import { PROGRAMS, requireProgram } from './programs.ts';

/** The parts of Chrome's API that the tests call in the extension's service worker. */
declare const chrome: {
  readonly action: Record<
    'getBadgeText' | 'getPopup' | 'getTitle',
    (of: { tabId: number }) => Promise<string>
  >;
  readonly alarms: { get(name: string): Promise<{ readonly periodInMinutes: number } | undefined> };
  readonly storage: {
    readonly local: { get(key: string): Promise<Record<string, unknown>> };
    readonly session: { get(key: string): Promise<Record<string, { readonly page?: string } | undefined>> };
  };
  readonly tabs: { query(properties: { active: true }): Promise<{ id: number }[]> };
};

const EXTENSION = join(import.meta.dir, '../../../examples/extension');

interface ExtensionConfig {
  readonly baseUrl: string;
  readonly token: string;
  readonly orgId: string;
}

export class ExtensionBrowser implements AsyncDisposable {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly #worker: Worker;
  readonly #tabId: number;

  private constructor(context: BrowserContext, page: Page, worker: Worker, tabId: number) {
    this.context = context;
    this.page = page;
    this.#worker = worker;
    this.#tabId = tabId;
  }

  /** Starts the browser with a configured copy of the extension, and waits until it has the list of shops. */
  static async start(config: ExtensionConfig, flags: readonly string[]): Promise<ExtensionBrowser> {
    const folder = copyExtension(config);
    const context = await chromium.launchPersistentContext(temporaryFolder(), {
      executablePath: requireProgram(PROGRAMS.chrome),
      args: [...FLAGS, `--disable-extensions-except=${folder}`, `--load-extension=${folder}`, ...flags],
    });
    const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
    const [page] = context.pages();
    if (page === undefined) throw new Error('the browser has no page');
    while ((await worker.evaluate(() => chrome.storage.local.get('shops'))).shops === undefined)
      await page.waitForTimeout(20);
    const [tab] = await worker.evaluate(() => chrome.tabs.query({ active: true }));
    return new ExtensionBrowser(context, page, worker, tab?.id ?? 0);
  }

  async userId(): Promise<unknown> {
    return (await this.#worker.evaluate(() => chrome.storage.local.get('userId'))).userId;
  }

  /** Returns the period of the download, in minutes. */
  async refreshMinutes(): Promise<number | undefined> {
    return (await this.#worker.evaluate(() => chrome.alarms.get('refresh')))?.periodInMinutes;
  }

  /** Waits until the extension has noticed the shop's page; returns the badge on its icon. */
  async badge(): Promise<string> {
    while ((await this.#noticedPage()) !== this.page.url()) await this.page.waitForTimeout(20);
    return this.#icon('getBadgeText');
  }

  title(): Promise<string> {
    return this.#icon('getTitle');
  }

  /** Opens the popup of the page's tab. Headless browsers have no toolbar, so it opens as a page. */
  async popup(): Promise<Page> {
    while (![undefined, this.page.url()].includes(await this.#noticedPage()))
      await this.page.waitForTimeout(20);
    const popup = await this.context.newPage();
    await popup.goto(await this.#icon('getPopup'));
    await popup.locator('main').waitFor();
    return popup;
  }

  /** Returns the shop's page in the tab, as far as the extension has noticed; undefined for other pages. */
  async #noticedPage(): Promise<string | undefined> {
    const key = `tab ${this.#tabId}`;
    const { [key]: tab } = await this.#worker.evaluate((name) => chrome.storage.session.get(name), key);
    return tab?.page;
  }

  #icon(read: 'getBadgeText' | 'getPopup' | 'getTitle'): Promise<string> {
    return this.#worker.evaluate(([name, tabId]) => chrome.action[name]({ tabId }), [
      read,
      this.#tabId,
    ] as const);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.context.close();
  }
}

function copyExtension({ baseUrl, token, orgId }: ExtensionConfig): string {
  const folder = temporaryFolder();
  cpSync(EXTENSION, folder, { recursive: true });
  const replace = (file: string, pairs: readonly (readonly [string, string])[]) => {
    let text = readFileSync(join(folder, file), 'utf8');
    for (const [before, after] of pairs) {
      if (!text.includes(before)) throw new Error(`${file} does not contain ${before}`);
      text = text.replace(before, after);
    }
    writeFileSync(join(folder, file), text);
  };
  replace('manifest.json', [['http://localhost:8080', baseUrl]]);
  replace('config.js', [
    ['http://localhost:8080', baseUrl],
    ['ob_pub_…', token],
    ["ORG_ID = '…'", `ORG_ID = '${orgId}'`],
  ]);
  return folder;
}
