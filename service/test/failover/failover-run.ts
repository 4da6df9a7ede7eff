// Importers, pollers and clicks on two nodes, one with a multi-host URL and one behind HAProxy, while the primary fails over.
// After each failover, everything pauses, and the database is compared with the guarantees.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '@offerbook/sandbox/random.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { Cluster } from '../chaos/cluster/nodes.ts';
import type { Member } from '../chaos/cluster/patroni/member.ts';
import type { PatroniCluster } from '../chaos/cluster/patroni/patroni-cluster.ts';
import type { Fault } from '../chaos/faults/patroni-faults.ts';
import { Acknowledged } from '../chaos/model/acknowledged.ts';
import { compare, readAll } from '../chaos/model/comparison.ts';
import { Ledger } from '../chaos/model/ledger.ts';
import { LONER, ORGANISATIONS, type OrganisationName } from '../chaos/model/world.ts';
import { Clickers, prepareClicks, untilRecorded } from '../chaos/traffic/clicks.ts';
import { getOrganisation } from '../chaos/traffic/imports/import-order.ts';
import { chooseOrganisations, planImport } from '../chaos/traffic/imports/import-plan.ts';
import { Importer } from '../chaos/traffic/imports/importer.ts';
import { buildFleet, type Member as FleetMember, issueToken } from '../chaos/traffic/pollers/fleet.ts';
import { type ClockWitness, pageReader, type Send } from '../chaos/traffic/pollers/page-reader.ts';
import type { FetchPage } from '../chaos/traffic/pollers/poller.ts';
import { Probe } from '../chaos/traffic/probe.ts';
import { temporaryFolder } from '../support/databases.ts';
import { signalIfThere } from '../support/postgres-processes.ts';

export const MODES = ['synchronous', 'replica', 'asynchronous'] as const;
export type Mode = (typeof MODES)[number];

/** Organisations with pollers. The others only have imports. */
const POLLED: readonly OrganisationName[] = ['amber', LONER];
const ROWS_MAX = 40;
/** Machines of a cluster have synchronised clocks. */
const CLOCK_OFFSET_MAX_MS = 50;
const IMPORTS_PER_PROCESS = 4;
const IMPORT_TIMEOUT_MS = 45_000;
const PROMOTION_TIMEOUT_MS = 90_000;
/** Load before and after a fault. */
const LOAD_MS = 1_000;
const REPAIR_TIMEOUT_MS = 60_000;
const IDLE_TIMEOUT_MS = 60_000;
/** On a busy machine, Patroni may fail over while copies are compared. */
const COMPARISONS_MAX = 4;

export interface RoundReport {
  readonly fault: string;
  /** Number of promotions. On a busy machine, Patroni may add some of its own. */
  readonly promotions: number;
  /** From the start of the fault to the promotion. */
  readonly promotionMs: number;
  /** From the promotion to the first response with 200, of the slower node. */
  readonly firstPageMs: number;
  /** Imports that reported success since the last round. */
  readonly imports: number;
  /** Rows of these imports that are not in the database. */
  readonly lostRows: number;
  readonly clicks: number;
  readonly lostClicks: number;
  /** Rows of which a poller does not have the version in the database. */
  readonly contradicted: number;
  /** Rows that only a poller has. */
  readonly extra: number;
  /** Time from the end of the load until all copies were correct. */
  readonly repairMs: number;
  /** Log lines in which a node reports lost changes. */
  readonly reports: readonly string[];
  readonly problems: readonly string[];
}

/** Patroni has promoted a standby, and then made the old primary the leader again. Nodes that have used the standby refuse it. */
export class OldPrimaryReinstated extends Error {}

export interface RunOptions {
  readonly mode: Mode;
  readonly seed: number;
  readonly waitsForTtl: boolean;
}

export class FailoverRun implements Disposable {
  readonly #cluster: PatroniCluster;
  readonly #options: RunOptions;
  readonly #nodes: Cluster;
  readonly #clickers: Clickers;
  readonly #probes: readonly Probe[];
  readonly #ledger = new Ledger((what) => this.#note('STAMP', what));
  readonly #acknowledged = new Acknowledged();
  readonly #actors: Promise<void>[] = [];
  readonly #importers = new Set<Importer>();
  #fleet: FleetMember[] = [];
  /** The first problem of each kind, and the number of problems of that kind. */
  readonly #problems = new Map<string, { readonly first: string; count: number }>();
  #clicksChecked = 0;
  #logLinesRead: number[] = [];
  #round = 0;
  #busy = 0;
  #isPaused = false;
  #isOver = false;
  #failure: unknown;

  private constructor(
    cluster: PatroniCluster,
    options: RunOptions,
    nodes: Cluster,
    clickers: Clickers,
    probes: readonly Probe[],
  ) {
    this.#cluster = cluster;
    this.#options = options;
    this.#nodes = nodes;
    this.#clickers = clickers;
    this.#probes = probes;
  }

  static async start(cluster: PatroniCluster, options: RunOptions): Promise<FailoverRun> {
    const { url } = await cluster.untilHealthy();
    const stores = await openStores(url, CREATE_OPTIONS);
    try {
      for (const name of ORGANISATIONS) await stores.organisations.create(name);
      const clickers = new Clickers(await prepareClicks(url), { usersAtOnce: 1, pauseMs: 100 });
      const nodes = await Cluster.start(
        [cluster.multiHostUrl, cluster.proxyUrl].map((databaseUrl) => ({
          OFFERBOOK_DATABASE_URL: databaseUrl,
          OFFERBOOK_SPOOL: temporaryFolder(),
          OFFERBOOK_RATE_LIMIT_ACTIVATION: '0',
          OFFERBOOK_RATE_LIMIT_ACTIVATION_ORG: '0',
          OFFERBOOK_DISK_RESERVE: '0',
          ...(options.mode === 'replica' && { OFFERBOOK_REPLICA_URL: cluster.multiHostUrl }),
        })),
      );
      const token = await issueToken(stores, LONER);
      const probes = nodes.servers.map((server) => new Probe(server.url, token));
      const run = new FailoverRun(cluster, options, nodes, clickers, probes);
      await run.#buildFleet(stores);
      run.#begin();
      return run;
    } finally {
      await stores.close();
    }
  }

  /** Causes a fault under load, waits until the cluster is healthy, and compares the copies. */
  async play(fault: Fault): Promise<RoundReport> {
    this.#round += 1;
    const random = this.#random('fault');
    const leader = await this.#cluster.untilHealthy();
    const timeline = await leader.timeline();
    this.#isPaused = false;
    await Bun.sleep(LOAD_MS);
    const beganAtMs = performance.now();
    let promotedAtMs = 0;
    const untilPromoted = async () => {
      const promoted = await this.#untilPromoted(leader);
      promotedAtMs = performance.now();
      return promoted;
    };
    const { waitsForTtl } = this.#options;
    await fault.strike({ cluster: this.#cluster, leader, random, waitsForTtl, untilPromoted });
    const served = Promise.all(this.#probes.map((probe) => probe.untilServedAfter(promotedAtMs)));
    const pages = await served.catch(async (error: unknown) => {
      await this.#requireLaterThan(timeline);
      throw error;
    });
    await this.#requireLaterThan(timeline);
    await Bun.sleep(LOAD_MS);
    const { timeline: lastTimeline, ...outcome } = await this.#compareAgain();
    const promotions = lastTimeline - timeline;
    const { mode } = this.#options;
    const mayLose = mode !== 'synchronous' && (fault.loses || promotions > 1);
    if (!mayLose && outcome.lostRows > 0)
      this.#note('LOST', `${outcome.lostRows} rows of acknowledged imports`);
    if (!mayLose && outcome.lostClicks > 0) this.#note('LOST', `${outcome.lostClicks} clicks`);
    if (outcome.contradicted > 0) this.#note('CONTRADICTED', `${outcome.contradicted} rows of copies differ`);
    if (outcome.extra > 0 && (mode === 'synchronous' || outcome.reports.length === 0))
      this.#note('EXTRA', `${outcome.extra} rows are only in copies`);
    if (!mayLose && outcome.reports.length > 0) this.#note('FALSE ALARM', outcome.reports.join(' '));
    const problems = [...this.#problems].map(
      ([kind, { first, count }]) => `${kind}: ${first}${count > 1 ? ` (${count} times)` : ''}`,
    );
    this.#problems.clear();
    return {
      fault: fault.name,
      promotions,
      promotionMs: promotedAtMs - beganAtMs,
      firstPageMs: Math.max(...pages) - promotedAtMs,
      ...outcome,
      problems,
    };
  }

  /** Writes the log of each node to a new folder, and returns the folder's path. */
  saveLogs(): string {
    const folder = mkdtempSync(join(tmpdir(), 'offerbook-failover-logs-'));
    for (const [i, { logLines }] of this.#nodes.servers.entries())
      writeFileSync(join(folder, `node-${i + 1}.ndjson`), logLines.join('\n'));
    return folder;
  }

  /** Synchronous, so that it also runs when the process is interrupted. Importers end with this process. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const probe of this.#probes) probe.stop();
    for (const importer of this.#importers) importer.kill();
    for (const { pid } of this.#nodes.servers) signalIfThere(pid, 'SIGKILL');
  }

  /** Waits until the cluster is healthy, and throws if its primary has not been promoted since this timeline. */
  async #requireLaterThan(timeline: number): Promise<void> {
    const primary = await this.#cluster.untilHealthy();
    if ((await primary.timeline()) <= timeline) throw new OldPrimaryReinstated();
  }

  #random(...parts: (string | number)[]): Random {
    return new Random(this.#options.seed, this.#options.mode, this.#round, ...parts);
  }

  #note(kind: string, what: string): void {
    const noted = this.#problems.get(kind) ?? { first: what, count: 0 };
    noted.count += 1;
    this.#problems.set(kind, noted);
  }

  #begin(): void {
    const urls = [this.#cluster.multiHostUrl, this.#cluster.proxyUrl];
    this.#actors.push(
      ...urls.map((url, i) => this.#keepImporting(url, this.#random('importer', i))),
      ...this.#fleet.map((_, i) => this.#keepPolling(i, this.#random('poller', i))),
      ...this.#nodes.servers.map(({ url }) => this.#clickers.click(url)),
    );
    for (const actor of this.#actors) {
      actor.catch((error: unknown) => {
        this.#failure ??= error;
      });
    }
  }

  async #buildFleet(stores: Stores): Promise<void> {
    this.#fleet = [];
    for (const name of POLLED) {
      this.#fleet.push(
        ...(await buildFleet(name, {
          stores,
          cluster: this.#nodes,
          random: (...parts) => this.#random(...parts),
          reader: (organisation, _random, send) => this.#reader(organisation, send),
          // New stamps after a failover change the state at an earlier stamp.
          checkSnapshot: async () => {},
        })),
      );
    }
  }

  /** Each poller must never see Complete-Through go back; with a replica, only not below the watermark that it asked for. */
  #reader(organisation: OrganisationName, send: Send): FetchPage {
    const own: ClockWitness = { floor: '' };
    const everybody = this.#ledger.witness(organisation);
    const fetchPage = pageReader(send, own, (what) => {
      if (this.#options.mode !== 'replica' || !what.startsWith('complete through')) this.#note('PAGE', what);
    });
    return async (query) => {
      const page = await fetchPage(query);
      if (query.updatedAtGreaterThan !== undefined && page.completeThrough < query.updatedAtGreaterThan)
        this.#note(
          'BACK',
          `complete through ${page.completeThrough}, asked after ${query.updatedAtGreaterThan}`,
        );
      if (page.completeThrough > everybody.floor) everybody.floor = page.completeThrough as Timestamp;
      return page;
    };
  }

  /** Runs work unless the run is paused. */
  async #working(work: () => Promise<void>): Promise<void> {
    if (this.#isPaused) {
      await Bun.sleep(20);
      return;
    }
    this.#busy += 1;
    try {
      await work();
    } finally {
      this.#busy -= 1;
    }
  }

  async #keepImporting(url: string, random: Random): Promise<void> {
    let importer: Importer | undefined;
    let count = 0;
    while (!this.#isOver) {
      await this.#working(async () => {
        importer ??= new Importer(url, 'ignore');
        this.#importers.add(importer);
        const isUsable = await this.#import(importer, random);
        count += 1;
        // A new process looks for the primary again, as each command does.
        if (!isUsable || count % IMPORTS_PER_PROCESS === 0) {
          importer.kill();
          this.#importers.delete(importer);
          importer = undefined;
        }
      });
      await Bun.sleep(random.whole(50, 250));
    }
  }

  /** Returns false if the importing process has ended. */
  async #import(importer: Importer, random: Random): Promise<boolean> {
    const entries = chooseOrganisations(random).map((organisation) => this.#ledger.open(organisation));
    const entryOf = (number: number) => entries.find((entry) => entry.number === number);
    const planned = planImport(
      entries.map(({ number, organisation }) => ({ number, organisation })),
      random,
    );
    const order = {
      ...planned,
      rows: Math.min(planned.rows, ROWS_MAX),
      clockOffsetMs: random.whole(-CLOCK_OFFSET_MAX_MS, CLOCK_OFFSET_MAX_MS),
    };
    const timer = setTimeout(() => importer.kill(), IMPORT_TIMEOUT_MS);
    try {
      const outcome = await importer.carryOut(order, {
        onStamped: (number, stampMs) => entryOf(number)?.stamped(stampMs),
        onViolation: (what) => this.#note('IMPORT', what),
      });
      if (outcome.end === 'imported') {
        for (const result of outcome.results) {
          entryOf(result.number)?.acknowledge(result);
          this.#acknowledged.note(result);
        }
      }
      return outcome.end !== 'killed';
    } catch {
      // The process ended because it did not find a primary when it started.
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  async #keepPolling(index: number, random: Random): Promise<void> {
    while (!this.#isOver) {
      await this.#working(async () => {
        try {
          await this.#fleet[index]?.walk(Math.round(random.logBetween(5, 200)));
        } catch (error) {
          if (!this.#isOver) this.#note('POLLER', `${this.#fleet[index]?.poller.kind}: ${messageOf(error)}`);
        }
      });
      await Bun.sleep(random.whole(100, 500));
    }
  }

  async #untilPromoted(old: Member): Promise<Member> {
    const giveUpMs = performance.now() + PROMOTION_TIMEOUT_MS;
    while (true) {
      const promoted = (await this.#cluster.primaries()).find((member) => member !== old);
      if (promoted !== undefined) return promoted;
      if (performance.now() > giveUpMs)
        throw new Error(`no server was promoted: ${await this.#cluster.describe()}`);
      await Bun.sleep(20);
    }
  }

  async #pause(): Promise<void> {
    this.#isPaused = true;
    const giveUpMs = performance.now() + IDLE_TIMEOUT_MS;
    while (this.#busy > 0) {
      if (performance.now() > giveUpMs) throw new Error('an import or a walk has not ended');
      await Bun.sleep(20);
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #compareAgain() {
    await this.#pause();
    for (let count = 1; ; count++) {
      try {
        return await this.#compare();
      } catch (error) {
        if (count === COMPARISONS_MAX) throw error;
      }
    }
  }

  async #compare() {
    const primary = await this.#cluster.untilHealthy();
    const stores = await openStores(primary.url);
    try {
      const beganAtMs = performance.now();
      const giveUpMs = beganAtMs + REPAIR_TIMEOUT_MS;
      let { contradicted, extra } = await this.#compareCopies(stores);
      // A server may still be giving transactions new stamps.
      while (contradicted > 0 && performance.now() < giveUpMs) {
        await Bun.sleep(500);
        ({ contradicted, extra } = await this.#compareCopies(stores));
      }
      const repairMs = performance.now() - beganAtMs;
      // A wrong copy must not count again in the next round.
      if (contradicted + extra > 0) await this.#buildFleet(stores);
      const clicks = this.#clickers.answered.slice(this.#clicksChecked);
      const recorded = await untilRecorded(primary.url, clicks);
      const timeline = await primary.timeline();
      const acknowledged = await this.#acknowledged.check(primary);
      this.#clicksChecked += clicks.length;
      return {
        timeline,
        ...acknowledged,
        clicks: clicks.length,
        lostClicks: clicks.filter((click) => !recorded.has(click)).length,
        contradicted,
        extra,
        repairMs,
        reports: this.#readReports(),
      };
    } finally {
      await stores.close();
    }
  }

  /** Lets every poller catch up, and compares its copy with the database. */
  async #compareCopies(stores: Stores): Promise<{ contradicted: number; extra: number }> {
    for (const { poller, walk } of this.#fleet) {
      // The first walk can continue one that the same token began earlier.
      for (let i = 0; i < 2; i++) {
        await walk(500).catch((error) => this.#note('POLLER', `${poller.kind}: ${messageOf(error)}`));
      }
    }
    const counts = { contradicted: 0, extra: 0 };
    for (const name of POLLED) {
      const truth = await readAll(stores, (await getOrganisation(stores, name)).id);
      for (const { organisation, poller } of this.#fleet) {
        if (organisation !== name) continue;
        const found = compare(truth, poller.copy);
        counts.contradicted += found.lost.length;
        counts.extra += found.extra.length;
      }
    }
    return counts;
  }

  /** Log lines since the last round that report a failover with lost changes. */
  #readReports(): string[] {
    return this.#nodes.servers.flatMap(({ logLines }, i) => {
      const news = logLines.slice(this.#logLinesRead[i] ?? 0);
      this.#logLinesRead[i] = logLines.length;
      return news.filter((line) => /failed over(?!; no change was lost)/.test(line));
    });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
