// The stage for a PostgreSQL fault: a separate database server with data, a proxy in front of it, and a node that connects
// through the proxy or directly.

import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { digestToken, newTokenText, type TokenKind } from '../../../src/domain/access-token.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { importCatalogue } from '../../../src/importer/import-catalogue.ts';
import { importTransactions } from '../../../src/importer/import-transactions.ts';
import { CREATE_OPTIONS, openStores } from '../../../src/storage/open-stores.ts';
import { ServerProcess } from '../../support/command.ts';
import { offer, retailer, transaction } from '../../support/fixtures.ts';
import { query, removePostgres, startReplica, untilCaughtUp } from '../../support/postgres-replica.ts';
import { PASSWORD, type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { ndjson } from '../../support/test-node.ts';
import { until } from '../../support/until.ts';
import type { Target } from '../traffic/checked-requests.ts';
import { FaultProxy } from './fault-proxy.ts';

const FLAGS = ['-c', 'fsync=off'];
/** The node's user of PostgreSQL. Limits on connections do not apply to superusers. */
export const ROLE = 'offerbook_node';
const RETAILERS = 20;
const TRANSACTIONS = 700;

export class Stage implements AsyncDisposable {
  readonly primary: PostgresServer;
  /** Undefined unless requested. */
  readonly standby: PostgresServer | undefined;
  readonly proxy: FaultProxy;
  readonly node: ServerProcess;
  readonly targets: readonly Target[];

  private constructor(
    primary: PostgresServer,
    standby: PostgresServer | undefined,
    proxy: FaultProxy,
    node: ServerProcess,
    targets: readonly Target[],
  ) {
    this.primary = primary;
    this.standby = standby;
    this.proxy = proxy;
    this.node = node;
    this.targets = targets;
  }

  static async open({ withStandby = false } = {}): Promise<Stage> {
    const primary = await startPostgres(FLAGS);
    await query(primary, `CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'`);
    await query(primary, `GRANT ALL ON SCHEMA public TO ${ROLE}`);
    const targets = await fill(urlOf(`127.0.0.1:${primary.port}`));
    const standby = withStandby ? await startReplica(primary) : undefined;
    if (standby !== undefined) await untilCaughtUp(primary, standby);
    const proxy = await FaultProxy.start(primary.port);
    const hosts =
      standby === undefined ? `127.0.0.1:${proxy.port}` : `127.0.0.1:${proxy.port},127.0.0.1:${standby.port}`;
    const node = await startNode({
      OFFERBOOK_DATABASE_URL: urlOf(hosts),
      OFFERBOOK_RATE_LIMIT_PUBLIC: '0',
      OFFERBOOK_RATE_LIMIT_PRIVATE: '0',
    });
    return new Stage(primary, standby, proxy, node, targets);
  }

  /** Number of the node's connections to its current server. */
  async connections(server: PostgresServer = this.primary): Promise<number> {
    const [row] = await query<{ count: number }>(
      server,
      `SELECT count(*)::integer AS count FROM pg_stat_activity WHERE usename = '${ROLE}'`,
    );
    return row?.count ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]();
    await this.proxy[Symbol.asyncDispose]();
    for (const server of [this.standby, this.primary]) {
      if (server !== undefined) await removePostgres(server);
    }
  }
}

/** On a busy machine, PostgreSQL may be too slow for the first connections of a node, which then exits. */
async function startNode(env: Record<string, string>): Promise<ServerProcess> {
  const started = await until(
    () => ServerProcess.start([], { env }).catch((error: unknown) => error),
    (node) => node instanceof ServerProcess,
  );
  return started as ServerProcess;
}

function urlOf(hosts: string): string {
  return `postgres://${ROLE}:${PASSWORD}@${hosts}/postgres`;
}

/** A catalogue, transactions from two imports, and the paths to request: lists, a narrow window and a wide one. */
async function fill(databaseUrl: string): Promise<Target[]> {
  const stores = await openStores(databaseUrl, CREATE_OPTIONS);
  try {
    const org = await stores.organisations.create('acme');
    if (org === undefined) throw new Error('the database is not empty');
    const retailers = Array.from({ length: RETAILERS }, (_, i) =>
      retailer(i + 1, { cashbackOffers: [offer(i + 1)] }),
    );
    await importCatalogue(stores.catalogue, sourceFrom(ndjson(retailers)), {});
    const rows = Array.from({ length: TRANSACTIONS }, (_, i) => transaction(i + 1));
    for (const part of [rows.slice(10), rows.slice(0, 10)]) {
      await importTransactions(stores.transactions, org, sourceFrom(ndjson(part)), systemClock, {});
    }
    const [pub, prv] = [await issue(stores, org.id, 'public'), await issue(stores, org.id, 'private')];
    const yesterday = new Date(systemClock() - 86_400_000).toISOString().slice(0, 19);
    const pages = [
      '/v1/transactions/?limit=1000',
      `/v1/transactions/?updatedAtLessThan=${yesterday}`,
      `/v1/transactions/?updatedAtGreaterThan=${yesterday}`,
    ];
    return [
      { kind: 'catalogue', path: '/v1/retailers/', token: pub },
      { kind: 'catalogue', path: '/v1/cashback-offers/?name=a&limit=5', token: pub },
      { kind: 'health', path: '/livez' },
      { kind: 'health', path: '/readyz' },
      // Often enough that every pool connection is open when the fault begins.
      ...Array.from({ length: 12 }, (_, i) => ({
        kind: 'transactions' as const,
        path: pages[i % pages.length] ?? '',
        token: prv,
      })),
    ];
  } finally {
    await stores.close();
  }
}

async function issue(stores: Stores, orgId: number, kind: TokenKind): Promise<string> {
  const text = newTokenText(kind);
  await stores.tokens.add({ orgId, kind, label: 'faults', digest: digestToken(text), expiresAtMs: null });
  return text;
}
