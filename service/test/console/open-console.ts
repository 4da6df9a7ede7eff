// A node with a console, and functions that read its pages as tables and facts.

import type { Retailer } from '@offerbook/wire/catalogue.ts';
import type { UnstampedTransaction } from '@offerbook/wire/transaction.ts';
import { importsInto } from '../../src/cli/commands/sandbox/imports.ts';
import { freePort } from '../support/postgres-server.ts';
import { TestNode, type TestNodeOptions } from '../support/test-node.ts';

export class ConsoleNode implements AsyncDisposable {
  readonly node: TestNode;
  readonly url: string;

  private constructor(node: TestNode, url: string) {
    this.node = node;
    this.url = url;
  }

  static async start(options: TestNodeOptions = {}): Promise<ConsoleNode> {
    const adminPort = await freePort();
    const node = await TestNode.start({ ...options, settings: { ...options.settings, adminPort } });
    return new ConsoleNode(node, `http://127.0.0.1:${adminPort}`);
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.url + path, { headers });
  }

  async page(path: string): Promise<ShownPage> {
    const answer = await this.get(path);
    return new ShownPage(await answer.text(), answer.status);
  }

  async post(path: string, form: Record<string, string>): Promise<ShownPage> {
    const answer = await fetch(this.url + path, { method: 'POST', body: new URLSearchParams(form) });
    return new ShownPage(await answer.text(), answer.status);
  }

  /** Imports with an entry in the import log, unlike those of a TestNode. */
  async importCatalogue(retailers: readonly Retailer[]): Promise<void> {
    const org = await this.node.organisation();
    await importsInto(this.node.stores, org, Date.now).catalogue(retailers as never);
    const { catalogue: revision } = await this.node.stores.revisions();
    await this.node.logged((line) => line.revision === revision);
  }

  async importTransactions(rows: readonly UnstampedTransaction[], orgName = 'acme'): Promise<void> {
    const org = await this.node.organisation(orgName);
    const changes = rows.map((transaction) => ({ transaction, atMs: 0 }));
    await importsInto(this.node.stores, org, Date.now).transactions(changes as never, 'now');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]();
  }
}

export class ShownPage {
  readonly html: string;
  readonly status: number;

  constructor(html: string, status: number) {
    this.html = html;
    this.status = status;
  }

  get title(): string {
    return textOf(/<h1>(.*?)<\/h1>/s.exec(this.html)?.[1] ?? '');
  }

  /** Rows of the table with this caption; undefined if there is none. */
  table(caption: string): string[][] | undefined {
    const start = this.html.indexOf(`aria-label="${caption}"><table>`);
    if (start < 0) return undefined;
    const body = this.html.slice(start, this.html.indexOf('</table>', start));
    const rows = [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].slice(1);
    return rows.map(([, row = '']) =>
      [...row.matchAll(/<(t[dh])\b[^>]*>(.*?)<\/\1>/gs)].map(([, , cell = '']) => textOf(cell)),
    );
  }

  /** All facts of the page, by name. */
  get facts(): Record<string, string> {
    const pairs = [...this.html.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/gs)];
    return Object.fromEntries(pairs.map(([, name = '', value = '']) => [textOf(name), textOf(value)]));
  }

  /** Commands and metrics that the page names as its sources. */
  get sources(): string[] {
    return [...this.html.matchAll(/<p class="source">From (.*?)<\/p>/gs)].flatMap(([, names = '']) =>
      [...names.matchAll(/<code>(.*?)<\/code>/gs)].map(([, name = '']) => textOf(name)),
    );
  }

  get commands(): string[] {
    const blocks = this.html.matchAll(/<div class="command row">.*?<code>(.*?)<\/code>/gs);
    return [...blocks].map(([, text = '']) => textOf(text));
  }
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };

/** Replaces relative times with the exact ones in their tooltips. */
export function textOf(html: string): string {
  return html
    .replaceAll(/<time [^>]*title="([^"]*) UTC">.*?<\/time>/gs, '$1')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|#x27);/g, (_, name: string) => ENTITIES[name] ?? '')
    .trim();
}
