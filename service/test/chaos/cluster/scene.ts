// A small setup for scripted interleavings: two nodes on one database, an organisation with numbered transactions, and a clock
// that advances by a second with every change.

import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import type { UnstampedTransaction } from '@offerbook/wire/transaction.ts';
import { importTransactions } from '../../../src/importer/import-transactions.ts';
import { SERVER_OPTIONS } from '../../../src/storage/open-database.ts';
import { transaction } from '../../support/fixtures.ts';
import { ndjson, TestNode, type TestNodeOptions } from '../../support/test-node.ts';
import { type Comparison, compare, readAll } from '../model/comparison.ts';
import { type ClockWitness, pageReader, readPage, type Send } from '../traffic/page-reader.ts';
import type { FetchPage, Page, Poller } from '../traffic/pollers.ts';

export class Scene implements AsyncDisposable {
  nodes!: readonly [TestNode, TestNode];
  orgId!: number;
  tokens!: readonly [string, string];
  /** Guarantees that pages have broken. */
  readonly brokenPromises: string[] = [];
  readonly #witness: ClockWitness = { floor: '' };
  #nowMs = Date.parse('2026-11-14T12:00:00Z');
  readonly #clock = () => this.#nowMs;
  #version = 0;

  /** `options` are those of the second node. */
  static async open(databaseUrl: string, options: TestNodeOptions = {}): Promise<Scene> {
    const scene = new Scene();
    const common = { databaseUrl, database: SERVER_OPTIONS, clock: scene.#clock };
    const first = await TestNode.start(common);
    scene.nodes = [first, await TestNode.start({ ...options, ...common })];
    scene.orgId = (await first.organisation()).id;
    scene.tokens = [await first.token('private'), await first.token('private')];
    return scene;
  }

  /** Changes these transactions, in one import. */
  async change(...numbers: number[]): Promise<void> {
    this.#nowMs += 1_000;
    await this.nodes[0].transactions(this.versions(numbers));
  }

  /** New versions of the transactions with these numbers. */
  versions(numbers: readonly number[]): UnstampedTransaction[] {
    this.#version += 1;
    return numbers.map((number) => transaction(number, { passbackData: `version ${this.#version}` }));
  }

  /** Returns a function that sends requests to this node with one of the organisation's two tokens. */
  node(index: 0 | 1, token: 0 | 1 = 0): Send {
    return (path) => this.nodes[index].get(path, this.tokens[token]);
  }

  /** Requests a page of transactions from this node. */
  async page(index: 0 | 1, search = ''): Promise<Page> {
    return readPage(await this.node(index)(`/v1/transactions/${search}`));
  }

  /** Starts an import of these rows, which takes its stamp and waits. The returned function lets it commit. */
  async beginChange(...numbers: number[]): Promise<() => Promise<void>> {
    this.#nowMs += 1_000;
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const rows = ndjson(this.versions(numbers));
    async function* slowFile() {
      reached.resolve();
      await goOn.promise;
      yield new TextEncoder().encode(rows);
    }
    const [, { stores }] = this.nodes;
    const org = await this.nodes[0].organisation();
    const done = importTransactions(stores, org, sourceFrom(slowFile()), this.#clock, {});
    await Promise.race([reached.promise, done]);
    return async () => {
      goOn.resolve();
      await done;
    };
  }

  /**
   * Returns a function that fetches pages. The nth page uses the nth of `sends`, and later pages use the last one. Runs
   * `betweenPages` before every page except the first.
   */
  pages(sends: readonly Send[], betweenPages: (page: number) => Promise<void> = async () => {}): FetchPage {
    let page = 0;
    const fetchPage = pageReader(
      (path) => (sends[Math.min(page, sends.length) - 1] ?? this.node(0))(path),
      this.#witness,
      (what) => this.brokenPromises.push(what),
    );
    return async (query) => {
      if (page > 0) await betweenPages(page);
      page += 1;
      return fetchPage(query);
    };
  }

  async compare(poller: Poller): Promise<Comparison> {
    return compare(await readAll(this.nodes[0].stores, this.orgId), poller.copy);
  }

  /** Numbers of the transactions whose latest version the poller does not have. */
  async lostBy(poller: Poller): Promise<number[]> {
    const { lost } = await this.compare(poller);
    return lost.map((lostId) => Number.parseInt(lostId.slice(-12), 16)).sort((a, b) => a - b);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.nodes) await node[Symbol.asyncDispose]();
  }
}
