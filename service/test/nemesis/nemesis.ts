// The nemesis: runs importers, pollers, restarts and sabotage against one database for a while, then lets every poller finish
// undisturbed and compares its copy with the database, row by row. The seed determines every decision, with a separate random
// sequence for each actor; only the timing varies between runs.

import { Random } from '@offerbook/sandbox/random.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { Database } from '../../src/storage/database.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS, CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { POSTGRES_SQL } from '../../src/storage/postgres/postgres-sql.ts';
import { Cluster } from '../chaos/cluster/nodes.ts';
import { compare, readAll } from '../chaos/model/comparison.ts';
import { Ledger } from '../chaos/model/ledger.ts';
import { readStateAt } from '../chaos/model/state-at.ts';
import { ORGANISATIONS, type OrganisationName } from '../chaos/model/world.ts';
import { getOrganisation } from '../chaos/traffic/imports/import-order.ts';
import { chooseOrganisations, planImport } from '../chaos/traffic/imports/import-plan.ts';
import { Importer } from '../chaos/traffic/imports/importer.ts';
import { buildFleet, type Member } from '../chaos/traffic/pollers/fleet.ts';
import { pageReader } from '../chaos/traffic/pollers/page-reader.ts';
import type { FetchPage } from '../chaos/traffic/pollers/poller.ts';
import { Saboteur } from '../chaos/traffic/saboteur.ts';

export interface NemesisOptions {
  readonly databaseUrl: string;
  readonly seed: number;
  readonly durationMs: number;
}

export interface NemesisReport {
  readonly imports: number;
  readonly changes: number;
  readonly rollbacks: number;
  readonly importersKilled: number;
  readonly serversStopped: number;
  readonly serversKilled: number;
  /** Connections of servers that PostgreSQL terminated. */
  readonly connectionsEnded: number;
  readonly pollersRestarted: number;
  readonly cursorRowsChanged: number;
  readonly cursorRowsDeleted: number;
  readonly walks: number;
  readonly pages: number;
  /** Number of rows in the database at the end. */
  readonly rows: number;
  /** Rows in which a full copy differed from the state at its first page. */
  readonly holes: number;
  readonly lost: number;
  /** Descriptions of broken guarantees and lost changes. */
  readonly violations: readonly string[];
}

const SERVERS = 2;
const IMPORTERS = 3;
const VIOLATIONS_LISTED_MAX = 50;
/** Short, because a poller waits during the sabotage. */
const SABOTAGE_OPTIONS = { ...COMMAND_OPTIONS, lockTimeoutMs: 100 };

/** Ends the connections on which servers read pages: only these statements contain $1. */
const END_CONNECTIONS_SQL = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
   WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE $1`;

/** Thrown into a poller to restart it in the middle of a walk. */
class PollerRestart extends Error {}

export async function runNemesis(options: NemesisOptions): Promise<NemesisReport> {
  await using run = await NemesisRun.start(options);
  await run.rage();
  return await run.settle();
}

class NemesisRun implements AsyncDisposable {
  readonly #seed: number;
  readonly #databaseUrl: string;
  readonly #endMs: number;
  readonly #stores: Stores;
  readonly #cluster: Cluster;
  readonly #violations: string[] = [];
  readonly #ledger = new Ledger((what) => this.#note(what));
  readonly #database: Database;
  readonly #saboteur: Saboteur;
  readonly #closing: (() => Promise<void>)[] = [];
  readonly #fleet: Member[] = [];
  readonly #counts = {
    rollbacks: 0,
    importersKilled: 0,
    serversStopped: 0,
    serversKilled: 0,
    connectionsEnded: 0,
    pollersRestarted: 0,
    cursorRowsChanged: 0,
    cursorRowsDeleted: 0,
    walks: 0,
    pages: 0,
    holes: 0,
  };
  #failed = false;
  #quiet = false;

  private constructor(options: NemesisOptions, stores: Stores, sabotageStores: Stores, cluster: Cluster) {
    this.#seed = options.seed;
    this.#databaseUrl = options.databaseUrl;
    this.#endMs = performance.now() + options.durationMs;
    this.#stores = stores;
    this.#cluster = cluster;
    this.#database = openDatabase(options.databaseUrl, SABOTAGE_OPTIONS);
    this.#saboteur = new Saboteur(sabotageStores, this.#database, this.#ledger, this.#random('saboteur'));
    this.#closing.push(
      () => cluster[Symbol.asyncDispose](),
      () => stores.close(),
      () => sabotageStores.close(),
      () => this.#database.close(),
    );
  }

  static async start(options: NemesisOptions): Promise<NemesisRun> {
    const stores = await openStores(options.databaseUrl, CREATE_OPTIONS);
    for (const name of ORGANISATIONS) await stores.organisations.create(name);
    const sabotageStores = await openStores(options.databaseUrl, SABOTAGE_OPTIONS);
    const node = { OFFERBOOK_DATABASE_URL: options.databaseUrl };
    const cluster = await Cluster.start(Array.from({ length: SERVERS }, () => node));
    const run = new NemesisRun(options, stores, sabotageStores, cluster);
    for (const name of ORGANISATIONS) {
      const members = await buildFleet(name, {
        stores,
        cluster,
        random: (...parts) => run.#random(...parts),
        reader: (...args) => run.#reader(...args),
        checkSnapshot: (...args) => run.#checkSnapshot(...args),
      });
      run.#fleet.push(...members);
    }
    return run;
  }

  /** Runs all actors concurrently until the time is up. */
  async rage(): Promise<void> {
    const actors = [
      ...Array.from({ length: IMPORTERS }, (_, i) => this.#keepImporting(this.#random('importer', i))),
      ...this.#fleet.map(({ organisation, poller, walk }) =>
        this.#keepPolling(walk, this.#random('poller', organisation, poller.kind)),
      ),
      this.#keepRestarting(this.#random('restarts')),
      ...(this.#database.sql === POSTGRES_SQL ? [this.#keepEndingConnections(this.#random('ends'))] : []),
    ];
    const ended = actors.map((actor) =>
      actor.catch((error: unknown) => {
        this.#failed = true;
        throw error;
      }),
    );
    for (const outcome of await Promise.allSettled(ended)) {
      if (outcome.status === 'rejected') throw outcome.reason;
    }
  }

  /**
   * Lets every poller make two more walks, then compares the copies. Two, because the first can continue an earlier walk of
   * the same token, and is then complete only through an earlier stamp.
   */
  async settle(): Promise<NemesisReport> {
    this.#quiet = true;
    const random = this.#random('settling');
    for (let round = 0; round < 2; round++) {
      await Promise.all(this.#fleet.map(({ walk }) => walk(random.whole(1, 200))));
    }
    let lost = 0;
    let rows = 0;
    for (const name of ORGANISATIONS) {
      const truth = await readAll(this.#stores, (await getOrganisation(this.#stores, name)).id);
      rows += truth.size;
      this.#ledger.check(truth.values());
      for (const { organisation, poller } of this.#fleet) {
        if (organisation !== name) continue;
        const found = compare(truth, poller.copy);
        lost += found.lost.length;
        for (const id of found.lost)
          this.#note(`LOST: ${poller.kind} of ${name} does not have the latest version of ${id}`);
        for (const id of found.extra) {
          if (!this.#saboteur.deleted.has(id))
            this.#note(`EXTRA: ${poller.kind} of ${name} has ${id}, which is not in the database`);
        }
      }
    }
    for (const difference of await this.#stores.totals.verify()) {
      this.#note(`TOTALS: stored and counted totals differ: ${JSON.stringify(difference)}`);
    }
    const { imports, changes } = this.#ledger;
    return { imports, changes, ...this.#counts, rows, lost, violations: this.#violations };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closing) await close();
  }

  #random(...parts: (string | number)[]): Random {
    return new Random(this.#seed, ...parts);
  }

  #note(what: string): void {
    if (this.#violations.length < VIOLATIONS_LISTED_MAX) this.#violations.push(what);
  }

  get #isOver(): boolean {
    return this.#failed || performance.now() > this.#endMs;
  }

  async #keepImporting(random: Random): Promise<void> {
    let importer = new Importer(this.#databaseUrl);
    try {
      while (!this.#isOver) {
        const entries = chooseOrganisations(random).map((organisation) => this.#ledger.open(organisation));
        const entryOf = (number: number) => entries.find((entry) => entry.number === number);
        const parts = entries.map(({ number, organisation }) => ({ number, organisation }));
        const order = planImport(parts, random);
        const killAfterMs = random.chance(0.1) ? random.whole(0, order.pauseMs + 30) : undefined;
        const outcome = await importer.carryOut(order, {
          killAfterMs,
          onStamped: (number, stampMs) => entryOf(number)?.stamped(stampMs),
          onViolation: (what) => entries[0]?.violation(what),
        });
        if (outcome.end === 'imported')
          for (const result of outcome.results) entryOf(result.number)?.acknowledge(result);
        if (outcome.end === 'refused') this.#counts.rollbacks += 1;
        if (outcome.end === 'unknown') throw new Error(outcome.reason);
        if (killAfterMs !== undefined) {
          // The import may have ended before its kill. Then kill the process now, between two orders.
          importer.kill();
          this.#counts.importersKilled += 1;
          importer = new Importer(this.#databaseUrl);
        }
      }
    } finally {
      await importer.close();
    }
  }

  async #keepPolling(walk: (limit: number) => Promise<void>, random: Random): Promise<void> {
    let limit = 100;
    while (!this.#isOver) {
      // Usually unchanged, as in real clients, so that a restarted walk requests the same cursors as its first attempt.
      if (random.chance(0.2)) limit = Math.round(random.logBetween(2, 200));
      try {
        await walk(limit);
        this.#counts.walks += 1;
      } catch (error) {
        if (!(error instanceof PollerRestart)) throw error;
        this.#counts.pollersRestarted += 1;
      }
      await Bun.sleep(random.logBetween(1, 200));
    }
  }

  async #keepRestarting(random: Random): Promise<void> {
    while (!this.#isOver) {
      await Bun.sleep(random.between(200, 1_500));
      const signal = random.pick(['SIGTERM', 'SIGKILL'] as const);
      await this.#cluster.restart(random.whole(0, this.#cluster.size - 1), signal);
      this.#counts[signal === 'SIGTERM' ? 'serversStopped' : 'serversKilled'] += 1;
    }
  }

  /** Ends connections at random times, often in the middle of a response. */
  async #keepEndingConnections(random: Random): Promise<void> {
    while (!this.#isOver) {
      await Bun.sleep(random.logBetween(20, 1_000));
      this.#counts.connectionsEnded += (
        await this.#database.all(END_CONNECTIONS_SQL, '%string_agg(document%')
      ).length;
    }
  }

  /**
   * Checks that the walk returned every row of the state once, in the version of that time, and no other row. Ignores rows that
   * the saboteur has deleted.
   */
  async #checkSnapshot(
    organisation: OrganisationName,
    rows: readonly Transaction[],
    at: Timestamp,
    passbackUid: string | undefined,
  ): Promise<void> {
    const { id } = await getOrganisation(this.#stores, organisation);
    const everybody = await readStateAt(this.#database, id, at);
    const isWanted = (row: Transaction) => passbackUid === undefined || row.passbackUid === passbackUid;
    const state = new Map([...everybody].filter(([, row]) => isWanted(row)));
    const seen = new Map(rows.map((row) => [row.id, row]));
    if (seen.size < rows.length) this.#note(`TWICE: a full copy of ${organisation} as of ${at}`);
    const { lost, extra } = compare(state, seen);
    for (const id of [...lost, ...extra]) {
      if (this.#saboteur.deleted.has(id)) continue;
      this.#counts.holes += 1;
      this.#note(`HOLE: a full copy of ${organisation} as of ${at} differs in ${id}`);
    }
  }

  /** Fetches pages. After some of them, restarts the poller, or changes or deletes the cursor's row. */
  #reader(
    organisation: OrganisationName,
    random: Random,
    send: (path: string) => Promise<Response>,
  ): FetchPage {
    const fetchPage = pageReader(send, this.#ledger.witness(organisation), (what) => this.#note(what));
    return async (query) => {
      const page = await fetchPage(query);
      this.#counts.pages += 1;
      if (this.#quiet || page.cursor === undefined) return page;
      if (random.chance(0.08)) throw new PollerRestart();
      if (random.chance(0.3)) {
        const done = await this.#saboteur.strike(organisation, page.cursor);
        if (done === 'changed') this.#counts.cursorRowsChanged += 1;
        if (done === 'deleted') this.#counts.cursorRowsDeleted += 1;
      }
      return page;
    };
  }
}
