// Importers, pollers and clicks on two nodes, one with a multi-host URL and one behind HAProxy, while the primary fails over.
// After each failover, everything pauses, and the database is compared with the guarantees.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Stores } from '../../../src/domain/stores.ts';
import { until } from '../../support/until.ts';
import { Node } from '../cluster/node.ts';
import type { Member } from '../cluster/patroni/member.ts';
import type { PatroniCluster } from '../cluster/patroni/patroni-cluster.ts';
import { createOrganisation, issueToken, withStores } from '../cluster/seed.ts';
import type { Fault } from '../faults/patroni-faults.ts';
import { countLostRows } from '../model/acknowledged.ts';
import { Ledger } from '../model/ledger.ts';
import { getOrganisation, LONER, ORGANISATIONS, type OrganisationName } from '../model/world.ts';
import { Actors } from '../report/actors.ts';
import type { Run } from '../report/run.ts';
import { CheckedRequests } from '../traffic/checked-requests.ts';
import { Clickers, prepareClicks, untilRecorded } from '../traffic/clicks.ts';
import { Fleet, type Surroundings } from '../traffic/fleet.ts';
import { Importer } from '../traffic/importer.ts';
import { type ClockWitness, pageReader } from '../traffic/page-reader.ts';

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
/** Clients that request a page from each node, so that one of them notices soon when the node serves pages again. */
const PROBES = 4;
const PROBE_OPTIONS = { pauseMs: 100, limitMs: 5_000, allowed: [0, 503] };

/** Patroni has promoted a standby, and then made the old primary the leader again. Nodes that have used the standby refuse it. */
export class OldPrimaryReinstated extends Error {}

export class FailoverStage implements AsyncDisposable {
  readonly #run: Run;
  readonly #cluster: PatroniCluster;
  readonly #mode: Mode;
  readonly #stack: AsyncDisposableStack;
  readonly #ledger = new Ledger((what) => this.#note('STAMP', what));
  readonly #actors = new Actors();
  // Set by `start`.
  #nodes!: readonly Node[];
  #clickers!: Clickers;
  #probes!: readonly CheckedRequests[];
  #fleet!: Fleet;
  #fault = 'start';
  #round = 0;
  #importsChecked = 0;
  #clicksChecked = 0;
  #logLinesRead: number[] = [];

  private constructor(run: Run, cluster: PatroniCluster, mode: Mode, stack: AsyncDisposableStack) {
    this.#run = run;
    this.#cluster = cluster;
    this.#mode = mode;
    this.#stack = stack;
  }

  static async start(run: Run, cluster: PatroniCluster, mode: Mode): Promise<FailoverStage> {
    await using stack = new AsyncDisposableStack();
    const urls = [cluster.multiHostUrl, cluster.proxyUrl];
    const { url } = await cluster.untilHealthy();
    const env = mode === 'replica' ? { OFFERBOOK_REPLICA_URL: cluster.multiHostUrl } : {};
    const clickers = new Clickers(await prepareClicks(url), { usersAtOnce: 1, pauseMs: 100 });
    const nodes = await Promise.all(
      urls.map(async (databaseUrl) => stack.use(await Node.start(databaseUrl, { env }))),
    );
    return await withStores(url, async (stores) => {
      for (const name of ORGANISATIONS) await createOrganisation(stores, name);
      const token = await issueToken(stores, await getOrganisation(stores, LONER));
      const target = {
        kind: 'transactions',
        path: '/v1/transactions/?limit=1',
        token,
        changing: true,
      } as const;
      const targets = Array.from({ length: PROBES }, () => target);
      const probes = await Promise.all(
        nodes.map(async (node) => stack.use(await CheckedRequests.start(node.url, targets, PROBE_OPTIONS))),
      );
      const stage = new FailoverStage(run, cluster, mode, stack.move());
      stage.#nodes = nodes;
      stage.#clickers = clickers;
      stage.#probes = probes;
      await stage.#buildFleet(stores);
      stage.#begin(urls);
      return stage;
    });
  }

  /** Causes a fault under load, waits until the cluster is healthy, and compares the copies. */
  async play(fault: Fault) {
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
    const served = Promise.all(this.#probes.map((probe) => probe.servedAfter(promotedAtMs)));
    const pages = await served.catch(async (error: unknown) => {
      await this.#requireLaterThan(timeline);
      throw error;
    });
    await this.#requireLaterThan(timeline);
    await Bun.sleep(LOAD_MS);
    const { timeline: lastTimeline, ...outcome } = await this.#compareAgain();
    // On a busy machine, Patroni may promote more than once.
    const promotions = lastTimeline - timeline;
    const mayLose = this.#mode !== 'synchronous' && (fault.loses || promotions > 1);
    const { 'lost rows': lostRows, 'lost clicks': lostClicks, contradicted, extra, reports } = outcome;
    if (!mayLose && lostRows > 0) this.#note('LOST', `${lostRows} rows of acknowledged imports`);
    if (!mayLose && lostClicks > 0) this.#note('LOST', `${lostClicks} clicks`);
    if (contradicted > 0) this.#note('CONTRADICTED', `${contradicted} rows of copies differ`);
    if (extra > 0 && (this.#mode === 'synchronous' || reports.length === 0))
      this.#note('EXTRA', `${extra} rows are only in copies`);
    if (!mayLose && reports.length > 0) this.#note('FALSE ALARM', reports.join(' '));
    return {
      promotions,
      'promoted, s': seconds(promotedAtMs - beganAtMs),
      // Of the slower node, from the promotion.
      'first 200, s': seconds(Math.max(...pages) - promotedAtMs),
      ...outcome,
    };
  }

  /** Writes the log of each node to a new folder, and prints the folder's path. */
  saveLogs(): void {
    const folder = mkdtempSync(join(tmpdir(), 'offerbook-failover-logs-'));
    for (const [i, { logLines }] of this.#nodes.entries())
      writeFileSync(join(folder, `node-${i + 1}.ndjson`), logLines.join('\n'));
    this.#run.print(`  logs of the nodes: ${folder}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#stack.disposed) return;
    this.#actors.end();
    await this.#stack.disposeAsync();
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
    if (!this.#stack.disposed)
      this.#note('POLLER', `${kind}: ${error instanceof Error ? error.message : error}`);
  }

  #begin(urls: readonly string[]): void {
    for (const [i, databaseUrl] of urls.entries()) {
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
      this.#stack.defer(() => importer.kill());
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
    for (const { url } of this.#nodes) void this.#clickers.click(url);
  }

  async #buildFleet(stores: Stores): Promise<void> {
    this.#fleet = await Fleet.build(POLLED, {
      stores,
      nodes: this.#nodes,
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
    const find = async () => (await this.#cluster.primaries()).find((member) => member !== old);
    const promoted = await until(find, Boolean, PROMOTION_TIMEOUT_MS).catch(async () => {
      throw new Error(`no server was promoted: ${await this.#cluster.describe()}`);
    });
    return promoted as Member;
  }

  async #compareAgain() {
    await this.#actors.pause();
    for (let count = 1; ; count++) {
      try {
        const primary = await this.#cluster.untilHealthy();
        return await withStores(primary.url, (stores) => this.#compare(primary, stores));
      } catch (error) {
        if (count === COMPARISONS_MAX) throw error;
      }
    }
  }

  async #compare(primary: Member, stores: Stores) {
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
      'lost rows': lostRows,
      clicks: clicks.length,
      'lost clicks': clicks.filter((click) => !recorded.has(click)).length,
      ...found,
      'compared, s': seconds(repairMs),
      reports: this.#readReports(),
    };
  }

  /** Lets every poller catch up, and compares its copy with the database. */
  async #compareCopies(stores: Stores): Promise<{ contradicted: number; extra: number }> {
    await this.#fleet.catchUp(
      () => 500,
      ({ poller }, error) => this.#noteError(poller.kind, error),
    );
    const found = await this.#fleet.differences(stores);
    const extra = found.filter(({ what }) => what === 'extra').length;
    return { contradicted: found.length - extra, extra };
  }

  /** Log lines since the last round that report a failover with lost changes. */
  #readReports(): string[] {
    return this.#nodes.flatMap(({ logLines }, i) => {
      const news = logLines.slice(this.#logLinesRead[i] ?? 0);
      this.#logLinesRead[i] = logLines.length;
      return news.filter((line) => /failed over(?!; no change was lost)/.test(line));
    });
  }
}

const seconds = (ms: number) => Math.round(ms / 100) / 10;
