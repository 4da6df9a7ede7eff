// Importers, pollers and clicks on two nodes, one with a multi-host URL and one behind HAProxy, while the primary fails over.
// After each failover, everything pauses, and the database is compared with the guarantees.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Stores } from '../../../src/domain/stores.ts';
import { CREATE_OPTIONS, openStores } from '../../../src/storage/open-stores.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { Cluster } from '../cluster/nodes.ts';
import type { Member } from '../cluster/patroni/member.ts';
import type { PatroniCluster } from '../cluster/patroni/patroni-cluster.ts';
import type { Fault } from '../faults/patroni-faults.ts';
import { countLostRows } from '../model/acknowledged.ts';
import { Ledger } from '../model/ledger.ts';
import { LONER, ORGANISATIONS, type OrganisationName } from '../model/world.ts';
import { Actors } from '../report/actors.ts';
import type { Run } from '../report/run.ts';
import { Clickers, prepareClicks, untilRecorded } from '../traffic/clicks.ts';
import { Fleet, issueToken, type Surroundings } from '../traffic/fleet.ts';
import { Importer } from '../traffic/importer.ts';
import { type ClockWitness, pageReader } from '../traffic/page-reader.ts';
import { Probe } from '../traffic/probe.ts';

export const MODES = ['synchronous', 'replica', 'asynchronous'] as const;
export type Mode = (typeof MODES)[number];

/** Organisations with pollers. The others only have imports. */
const POLLED: readonly OrganisationName[] = ['amber', LONER];
const ROWS_MAX = 40;
/** Machines of a cluster have synchronised clocks. */
const CLOCK_OFFSET_MAX_MS = 50;
/** A new process looks for the primary again, as each command does. */
const IMPORTS_PER_PROCESS = 4;
const IMPORT_TIMEOUT_MS = 45_000;
const PROMOTION_TIMEOUT_MS = 90_000;
/** Load before and after a fault. */
const LOAD_MS = 1_000;
const REPAIR_TIMEOUT_MS = 60_000;
/** On a busy machine, Patroni may fail over while copies are compared. */
const COMPARISONS_MAX = 4;

export interface RoundReport {
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
  /** Rows that differ between a poller's copy and the database. */
  readonly contradicted: number;
  /** Rows that only a poller has. */
  readonly extra: number;
  /** Time from the end of the load until all copies were correct. */
  readonly repairMs: number;
  /** Log lines in which a node reports lost changes. */
  readonly reports: readonly string[];
}

/** Patroni has promoted a standby, and then made the old primary the leader again. Nodes that have used the standby refuse it. */
export class OldPrimaryReinstated extends Error {}

export class FailoverStage implements AsyncDisposable {
  readonly #run: Run;
  readonly #cluster: PatroniCluster;
  readonly #mode: Mode;
  readonly #nodes: Cluster;
  readonly #clickers: Clickers;
  readonly #probes: readonly Probe[];
  readonly #ledger = new Ledger((what) => this.#note('STAMP', what));
  readonly #actors = new Actors();
  readonly #importers: Importer[] = [];
  /** Set by `start`. */
  #fleet!: Fleet;
  #fault = 'start';
  #round = 0;
  #importsChecked = 0;
  #clicksChecked = 0;
  #logLinesRead: number[] = [];
  #isOver = false;

  private constructor(
    run: Run,
    cluster: PatroniCluster,
    mode: Mode,
    nodes: Cluster,
    clickers: Clickers,
    probes: readonly Probe[],
  ) {
    this.#run = run;
    this.#cluster = cluster;
    this.#mode = mode;
    this.#nodes = nodes;
    this.#clickers = clickers;
    this.#probes = probes;
  }

  static async start(run: Run, cluster: PatroniCluster, mode: Mode): Promise<FailoverStage> {
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
          ...(mode === 'replica' && { OFFERBOOK_REPLICA_URL: cluster.multiHostUrl }),
        })),
      );
      const token = await issueToken(stores, LONER);
      const probes = nodes.servers.map((server) => new Probe(server.url, token));
      const stage = new FailoverStage(run, cluster, mode, nodes, clickers, probes);
      await stage.#buildFleet(stores);
      stage.#begin();
      return stage;
    } finally {
      await stores.close();
    }
  }

  /** Causes a fault under load, waits until the cluster is healthy, and compares the copies. */
  async play(fault: Fault): Promise<RoundReport> {
    this.#round += 1;
    this.#fault = fault.name;
    const leader = await this.#cluster.untilHealthy();
    const timeline = await leader.timeline();
    this.#actors.resume();
    await Bun.sleep(LOAD_MS);
    const beganAtMs = performance.now();
    let promotedAtMs = 0;
    const untilPromoted = async () => {
      const promoted = await this.#untilPromoted(leader);
      promotedAtMs = performance.now();
      return promoted;
    };
    const [random, waitsForTtl] = [this.#random('fault'), this.#run.flag('wait-for-ttl')];
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
    const mayLose = this.#mode !== 'synchronous' && (fault.loses || promotions > 1);
    const { lostRows, lostClicks, contradicted, extra, reports } = outcome;
    if (!mayLose && lostRows > 0) this.#note('LOST', `${lostRows} rows of acknowledged imports`);
    if (!mayLose && lostClicks > 0) this.#note('LOST', `${lostClicks} clicks`);
    if (contradicted > 0) this.#note('CONTRADICTED', `${contradicted} rows of copies differ`);
    if (extra > 0 && (this.#mode === 'synchronous' || reports.length === 0))
      this.#note('EXTRA', `${extra} rows are only in copies`);
    if (!mayLose && reports.length > 0) this.#note('FALSE ALARM', reports.join(' '));
    return {
      promotions,
      promotionMs: promotedAtMs - beganAtMs,
      firstPageMs: Math.max(...pages) - promotedAtMs,
      ...outcome,
    };
  }

  /** Writes the log of each node to a new folder, and prints the folder's path. */
  saveLogs(): void {
    const folder = mkdtempSync(join(tmpdir(), 'offerbook-failover-logs-'));
    for (const [i, { logLines }] of this.#nodes.servers.entries())
      writeFileSync(join(folder, `node-${i + 1}.ndjson`), logLines.join('\n'));
    this.#run.print(`  logs of the nodes: ${folder}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#actors.end();
    for (const probe of this.#probes) probe.stop();
    for (const importer of this.#importers) importer.kill();
    await this.#nodes[Symbol.asyncDispose]();
    this.#cluster[Symbol.dispose]();
  }

  /** Waits until the cluster is healthy, and throws if its primary has not been promoted since this timeline. */
  async #requireLaterThan(timeline: number): Promise<void> {
    const primary = await this.#cluster.untilHealthy();
    if ((await primary.timeline()) <= timeline) throw new OldPrimaryReinstated();
  }

  #random(...parts: (string | number)[]) {
    return this.#run.random(this.#mode, this.#round, ...parts);
  }

  #note(kind: string, what: string): void {
    this.#run.violation(kind, `${this.#mode} ${this.#fault}: ${what}`);
  }

  #noteError(kind: string, error: unknown): void {
    if (!this.#isOver) this.#note('POLLER', `${kind}: ${error instanceof Error ? error.message : error}`);
  }

  #begin(): void {
    for (const [i, databaseUrl] of [this.#cluster.multiHostUrl, this.#cluster.proxyUrl].entries()) {
      const random = this.#random('importer', i);
      const importer = new Importer({
        databaseUrl,
        ledger: this.#ledger,
        random,
        adjust: (order) => ({
          ...order,
          rows: Math.min(order.rows, ROWS_MAX),
          clockOffsetMs: random.whole(-CLOCK_OFFSET_MAX_MS, CLOCK_OFFSET_MAX_MS),
        }),
        importsPerProcess: IMPORTS_PER_PROCESS,
        outageMaxMs: IMPORT_TIMEOUT_MS,
      });
      this.#importers.push(importer);
      this.#actors.start(
        async () => void (await importer.step()),
        () => random.whole(50, 250),
      );
    }
    for (const i of this.#fleet.members.keys()) {
      const random = this.#random('poller', i);
      const step = async () => {
        const poller = this.#fleet.members[i]?.poller;
        await poller
          ?.walk(Math.round(random.logBetween(5, 200)))
          .catch((error: unknown) => this.#noteError(poller.kind, error));
      };
      this.#actors.start(step, () => random.whole(100, 500));
    }
    for (const { url } of this.#nodes.servers) void this.#clickers.click(url);
  }

  async #buildFleet(stores: Stores): Promise<void> {
    this.#fleet = await Fleet.build(POLLED, {
      stores,
      cluster: this.#nodes,
      random: (...parts) => this.#random(...parts),
      reader: this.#reader,
    });
  }

  /** Each poller must never see Complete-Through go back; with a replica, only not below the watermark that it asked for. */
  readonly #reader: Surroundings['reader'] = (organisation, _random, send) => {
    const own: ClockWitness = { floor: '' };
    const everybody = this.#ledger.witness(organisation);
    const fetchPage = pageReader(send, own, (what) => {
      if (this.#mode !== 'replica' || !what.startsWith('complete through')) this.#note('PAGE', what);
    });
    return async (query) => {
      const page = await fetchPage(query);
      const { completeThrough } = page;
      if (completeThrough > everybody.floor) everybody.floor = completeThrough;
      return page;
    };
  };

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

  async #compareAgain() {
    await this.#actors.pause();
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
      let found = await this.#compareCopies(stores);
      // A server may still be giving transactions new stamps.
      while (found.contradicted > 0 && performance.now() < beganAtMs + REPAIR_TIMEOUT_MS) {
        await Bun.sleep(500);
        found = await this.#compareCopies(stores);
      }
      const repairMs = performance.now() - beganAtMs;
      // A wrong copy must not count again in the next round.
      if (found.contradicted + found.extra > 0) await this.#buildFleet(stores);
      const clicks = this.#clickers.answered.slice(this.#clicksChecked);
      const recorded = await untilRecorded(primary.url, clicks);
      const timeline = await primary.timeline();
      const imports = this.#ledger.acknowledged.slice(this.#importsChecked);
      const lostRows = await countLostRows(primary, imports);
      this.#importsChecked += imports.length;
      this.#clicksChecked += clicks.length;
      return {
        timeline,
        imports: imports.length,
        lostRows,
        clicks: clicks.length,
        lostClicks: clicks.filter((click) => !recorded.has(click)).length,
        ...found,
        repairMs,
        reports: this.#readReports(),
      };
    } finally {
      await stores.close();
    }
  }

  /** Lets every poller catch up, and compares its copy with the database. */
  async #compareCopies(stores: Stores): Promise<{ contradicted: number; extra: number }> {
    const onError = ({ poller }: { poller: { kind: string } }, error: unknown) =>
      this.#noteError(poller.kind, error);
    await this.#fleet.catchUp(() => 500, onError);
    const found = await this.#fleet.differences(stores);
    const extra = found.filter(({ what }) => what === 'extra').length;
    return { contradicted: found.length - extra, extra };
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
