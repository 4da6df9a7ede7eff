// A running node on a real socket with its own database. With `await using`, it stops at the end of the scope.

import http from 'node:http';
import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import type { UnstampedTransaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { buildSnapshotData } from '../../src/catalogue/build/build-snapshot.ts';
import type { SnapshotData } from '../../src/catalogue/snapshot-data.ts';
import { startNode } from '../../src/cli/node/node.ts';
import type { NodeOptions } from '../../src/cli/node/node-settings.ts';
import type { SnapshotBuilder } from '../../src/cli/node/snapshot-builder.ts';
import { readServeSettings, type ServeSettings } from '../../src/config.ts';
import { digestToken, newTokenText, type TokenKind } from '../../src/domain/access-token.ts';
import type { CatalogueStore, Link } from '../../src/domain/catalogue.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { Logger } from '../../src/domain/logger.ts';
import type { Organisation } from '../../src/domain/organisation.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { Route } from '../../src/http/router.ts';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import type { ImportReport } from '../../src/importer/import-report.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import type { DatabaseOptions } from '../../src/storage/database.ts';
import { SERVER_OPTIONS } from '../../src/storage/open-database.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import type { TracingSettings } from '../../src/tracing/tracing-settings.ts';
import { DATABASES, temporaryFolder } from './databases.ts';
import { leakWatch } from './leak-watch.ts';
import { until } from './until.ts';

// Settings of the command line, which tests inside Bun's own process must apply themselves.
Object.assign(http, { maxHeaderSize: 65_536 });

export interface TestNodeOptions {
  readonly databaseUrl?: string;
  readonly settings?: Partial<ServeSettings>;
  readonly clock?: Clock;
  /** With tracing, a thread builds snapshots, as in a server: these builds have spans. */
  readonly tracing?: TracingSettings | undefined;
  /** Long by default, so that a click does not go to the spool on a busy machine. */
  readonly clickDeadlineMs?: number;
  readonly replicaLagMaxMs?: number;
  /** Without a statement timeout by default, so that a busy machine causes no 503. Tests of faults pass `SERVER_OPTIONS`. */
  readonly database?: DatabaseOptions;
  /** Token that the pages contain for visitors; `keep` makes it valid. */
  readonly pageToken?: string;
  /** Route of the transactions that the explorer shows to guests. */
  readonly feed?: Route;
}

export class TestNode implements AsyncDisposable {
  readonly url: string;
  readonly databaseUrl: string;
  /** All lines that the node has logged. */
  readonly logLines: readonly string[];
  /** Stores on separate connections, like those of another process; their calls may wait. */
  readonly stores: Stores;
  readonly #clock: Clock;
  readonly #stop: () => Promise<void>;
  #stopped: Promise<void> | undefined;

  private constructor(
    node: { url: string; stop(): Promise<void> },
    stores: Stores,
    databaseUrl: string,
    logLines: readonly string[],
    clock: Clock,
  ) {
    this.url = node.url;
    this.databaseUrl = databaseUrl;
    this.stores = stores;
    this.logLines = logLines;
    this.#clock = clock;
    this.#stop = () => node.stop();
  }

  static async start(options: TestNodeOptions = {}): Promise<TestNode> {
    const [sqlite] = DATABASES;
    const databaseUrl = options.databaseUrl ?? (await sqlite?.create()) ?? '';
    const clock = options.clock ?? systemClock;
    const logLines: string[] = [];
    const write = (line: string) => {
      logLines.push(line);
      leakWatch.noteOutput('log', line.trimEnd());
    };
    const logger = new Logger('debug', write);
    const settings = {
      // All users of a test share one address.
      ...readServeSettings({ port: '0', spool: temporaryFolder(), rateLimitActivation: '0' }, {}),
      ...options.settings,
    };
    const { pageToken, feed } = options;
    // Create the database first, because a server does not.
    const stores = await openStores(databaseUrl, CREATE_OPTIONS, clock);
    const nodeOptions: NodeOptions = {
      settings,
      databaseUrl,
      logger,
      clock,
      clickDeadlineMs: options.clickDeadlineMs ?? 60_000,
      replicaLagMaxMs: options.replicaLagMaxMs,
      database: options.database ?? { ...SERVER_OPTIONS, statementTimeoutMs: 0 },
      tracing: options.tracing,
      extension:
        pageToken === undefined
          ? undefined
          : { routes: feed === undefined ? [] : [feed], guest: { token: pageToken, feedPath: feed?.path } },
    };
    const node = await startNode(
      nodeOptions,
      options.tracing === undefined ? { builder: localBuilder(stores.catalogue) } : {},
    );
    return new TestNode(node, stores, databaseUrl, logLines, clock);
  }

  async organisation(name = 'acme'): Promise<Organisation> {
    const known = (await this.stores.organisations.list()).find((org) => org.name === name);
    const org = known ?? (await this.stores.organisations.create(name));
    if (org === undefined) throw new Error(`no organisation ${name}`);
    return org;
  }

  /** Stores links, and waits until the node has loaded them and all organisations. */
  async links(links: readonly Link[] = []): Promise<void> {
    await this.stores.links.write(async (writer) => {
      await writer.put(links);
      await writer.markChanged();
    });
    const { activation } = await this.stores.revisions();
    await this.logged((line) => line.activation === activation);
  }

  async token(kind: TokenKind, org = 'acme', expiresAtMs: number | null = null): Promise<string> {
    const text = newTokenText(kind);
    await this.keep(text, kind, org, expiresAtMs);
    return text;
  }

  /** A token of each kind. */
  async tokens(org = 'acme') {
    return { public: await this.token('public', org), private: await this.token('private', org) };
  }

  /** Stores a token, so that it becomes valid. */
  async keep(text: string, kind: TokenKind, org = 'acme', expiresAtMs: number | null = null): Promise<void> {
    leakWatch.noteToken(text);
    const { id: orgId } = await this.organisation(org);
    await this.stores.tokens.add({ orgId, kind, label: 'test', digest: digestToken(text), expiresAtMs });
  }

  async revoke(text: string): Promise<void> {
    const { tokens } = await this.stores.tokens.list();
    const { id } = tokens.find(({ digest }) => digest === digestToken(text)) ?? {};
    await this.stores.tokens.revoke(id as Uuid);
  }

  /** Imports a whole catalogue and waits until the node serves it. */
  async catalogue(retailers: readonly Retailer[]): Promise<ImportReport> {
    const report = await importCatalogue(this.stores.catalogue, sourceFrom(ndjson(retailers)), {
      allowEmpty: true,
      allowWithdrawals: true,
    });
    const { catalogue: revision } = await this.stores.revisions();
    await this.logged((line) => line.revision === revision);
    return report;
  }

  async transactions(rows: readonly UnstampedTransaction[], org = 'acme'): Promise<ImportReport> {
    return importTransactions(
      this.stores,
      await this.organisation(org),
      sourceFrom(ndjson(rows)),
      this.#clock,
      { allowEmpty: true },
    );
  }

  get(path: string, token?: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.request('GET', path, token, headers);
  }

  async request(
    method: string,
    path: string,
    token?: string,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const authorization: Record<string, string> =
      token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const response = await fetch(this.url + path, { method, headers: { ...authorization, ...headers } });
    if (!response.ok) leakWatch.noteOutput('error answer', await response.clone().text());
    return response;
  }

  /** Waits for a log line. */
  async logged(matches: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    const find = () => this.logLines.map((line) => JSON.parse(line) as Record<string, unknown>).find(matches);
    return (await until(find).catch(() => {
      throw new Error(`no such line; the last of the log are\n${this.logLines.slice(-10).join('')}`);
    })) as Record<string, unknown>;
  }

  /** Stops the node and leaves the stores of the test open. */
  async stopNode(): Promise<void> {
    this.#stopped ??= this.#stop();
    await this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopNode();
    await this.stores.close();
  }
}

/** Builds snapshots without a thread, which would take most of the CPU time of a test's node. */
function localBuilder(store: CatalogueStore): SnapshotBuilder {
  let previous: SnapshotData | undefined;
  return {
    async build() {
      previous = await buildSnapshotData((onBatch) => store.read(onBatch), previous);
      return previous;
    },
    async close() {},
  };
}

export function ndjson(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
