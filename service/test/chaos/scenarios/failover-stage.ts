// Importers, pollers and clicks on two nodes, one with a multi-host URL and one behind HAProxy, while the primary fails over.
// After each failover, everything pauses, and the database is compared with the guarantees.

import type { Stores } from '../../../src/domain/stores.ts';
import { until } from '../../support/until.ts';
import { Node } from '../cluster/node.ts';
import { DATABASE, type Member } from '../cluster/patroni/member.ts';
import type { PatroniCluster } from '../cluster/patroni/patroni-cluster.ts';
import { createOrganisation, issueToken, withStores } from '../cluster/seed.ts';
import type { Fault } from '../faults/patroni-faults.ts';
import { Ledger } from '../model/ledger.ts';
import { getOrganisation, LONER, ORGANISATIONS, type OrganisationName } from '../model/world.ts';
import { Actors } from '../report/actors.ts';
import type { Run } from '../report/run.ts';
import { CheckedRequests } from '../traffic/checked-requests.ts';
import { Clickers, prepareClicks, untilRecorded } from '../traffic/clicks.ts';
import { buildFleet, catchUp, findDifferences, type Surroundings } from '../traffic/fleet.ts';
import type { ImportResult } from '../traffic/import-order.ts';
import { Importer } from '../traffic/importer.ts';
import { type ClockWitness, pageReader } from '../traffic/page-reader.ts';
import type { Poller } from '../traffic/pollers.ts';

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
const COUNT_TIMEOUT_MS = 60_000;
/** On a busy machine, Patroni may fail over while copies are compared. */
const COMPARISONS_MAX = 4;
/** Clients that request a page from each node, so that one of them notices soon when the node serves pages again. */
const PROBES = 4;
const PROBE_OPTIONS = { pauseMs: 100, limitMs: 5_000, allowed: [0, 503] };

/** Patroni has promoted a standby, and then made the old primary the leader again. Nodes that have used the standby refuse it. */
export class OldPrimaryReinstated extends Error {}

export type FailoverStage = Awaited<ReturnType<typeof openStage>>;

/** The stage also disposes of the cluster. */
export async function openStage(run: Run, cluster: PatroniCluster, mode: Mode) {
  await using stack = new AsyncDisposableStack();
  stack.use(cluster);
  const urls = [cluster.multiHostUrl, cluster.proxyUrl];
  const { url: primaryUrl } = await cluster.untilHealthy();
  const env = mode === 'replica' ? { OFFERBOOK_REPLICA_URL: cluster.multiHostUrl } : {};
  const clickers = new Clickers(await prepareClicks(primaryUrl), { usersAtOnce: 1, pauseMs: 100 });
  const nodes = await Promise.all(urls.map(async (url) => stack.use(await Node.start(url, { env }))));
  const token = await withStores(primaryUrl, async (stores) => {
    for (const name of ORGANISATIONS) await createOrganisation(stores, name);
    return issueToken(stores, await getOrganisation(stores, LONER));
  });
  const path = '/v1/transactions/?limit=1';
  const targets = Array.from({ length: PROBES }, () => {
    return { kind: 'transactions', path, token, changing: true } as const;
  });
  const probes = await Promise.all(
    nodes.map(async ({ url }) => stack.use(await CheckedRequests.start(url, targets, PROBE_OPTIONS))),
  );

  let [fault, round, importsChecked, clicksChecked] = ['start', 0, 0, 0];
  const logLinesRead = urls.map(() => 0);
  const random = (...parts: (string | number)[]) => run.random(mode, round, ...parts);
  const note = (kind: string, what: string) => run.violation(kind, `${mode} ${fault}: ${what}`);
  const ledger = new Ledger((what) => note('STAMP', what));
  const actors = new Actors();
  let isOver = false;
  const walk = (poller: Poller, limit: number) =>
    poller.walk(limit).catch((error: unknown) => {
      if (!isOver) note('POLLER', `${poller.kind}: ${error instanceof Error ? error.message : error}`);
    });

  /** Each poller must never see Complete-Through go back; with a replica, only not below the watermark that it asked for. */
  const reader: Surroundings['reader'] = (organisation, _random, send) => {
    const own: ClockWitness = { floor: '' };
    const everybody = ledger.witness(organisation);
    const fetchPage = pageReader(send, own, (what) => {
      if (mode !== 'replica' || !what.startsWith('complete through')) note('PAGE', what);
    });
    return async (query) => {
      const page = await fetchPage(query);
      if (page.completeThrough > everybody.floor) everybody.floor = page.completeThrough;
      return page;
    };
  };
  const build = (stores: Stores) => buildFleet(POLLED, { stores, nodes, random, reader });
  let fleet = await withStores(primaryUrl, build);

  for (const [i, databaseUrl] of urls.entries()) {
    const own = random('importer', i);
    const importer = new Importer({
      databaseUrl,
      ledger,
      random: own,
      adjust: (order) => ({
        ...order,
        rows: Math.min(order.rows, ROWS_MAX),
        clockOffsetMs: own.whole(-CLOCK_OFFSET_MAX_MS, CLOCK_OFFSET_MAX_MS),
      }),
      importsPerProcess: IMPORTS_PER_PROCESS,
      outageMaxMs: IMPORT_TIMEOUT_MS,
    });
    stack.defer(() => importer.kill());
    actors.start(
      async () => void (await importer.step()),
      () => own.whole(50, 250),
    );
  }
  for (const i of fleet.keys()) {
    const own = random('poller', i);
    const step = async () => {
      const poller = fleet[i]?.poller;
      if (poller !== undefined) await walk(poller, Math.round(own.logBetween(5, 200)));
    };
    actors.start(step, () => own.whole(100, 500));
  }
  for (const { url } of nodes) void clickers.click(url);

  async function untilPromoted(old: Member): Promise<Member> {
    const find = async () => (await cluster.primaries()).find((member) => member !== old);
    const promoted = await until(find, Boolean, PROMOTION_TIMEOUT_MS).catch(async () => {
      throw new Error(`no server was promoted: ${await cluster.describe()}`);
    });
    return promoted as Member;
  }

  /** Waits until the cluster is healthy, and throws if its primary has not been promoted since this timeline. */
  async function requireLaterThan(timeline: number): Promise<void> {
    const primary = await cluster.untilHealthy();
    if ((await primary.timeline()) <= timeline) throw new OldPrimaryReinstated();
  }

  /** Lets every poller catch up, and compares its copy with the database. */
  async function compareCopies(stores: Stores): Promise<{ contradicted: number; extra: number }> {
    await catchUp(fleet, ({ poller }) => walk(poller, 500));
    const found = await findDifferences(fleet, stores);
    const extra = found.filter(({ what }) => what === 'extra').length;
    return { contradicted: found.length - extra, extra };
  }

  async function compare(primary: Member, stores: Stores) {
    const beganAtMs = performance.now();
    let found = await compareCopies(stores);
    // A server may still be giving transactions new stamps.
    while (found.contradicted > 0 && performance.now() < beganAtMs + REPAIR_TIMEOUT_MS) {
      await Bun.sleep(500);
      found = await compareCopies(stores);
    }
    const repairMs = performance.now() - beganAtMs;
    // A wrong copy must not count again in the next round.
    if (found.contradicted + found.extra > 0) fleet = await build(stores);
    const clicks = clickers.answered.slice(clicksChecked);
    const recorded = await untilRecorded(primary.url, clicks);
    const timeline = await primary.timeline();
    const imports = ledger.acknowledged.slice(importsChecked);
    const lostRows = await countLostRows(primary, imports);
    importsChecked += imports.length;
    clicksChecked += clicks.length;
    // Log lines since the last round that report a failover with lost changes.
    const reports = nodes.flatMap(({ logLines }, i) => {
      const news = logLines.slice(logLinesRead[i] ?? 0);
      logLinesRead[i] = logLines.length;
      return news.filter((line) => /failed over(?!; no change was lost)/.test(line));
    });
    return {
      timeline,
      imports: imports.length,
      'lost rows': lostRows,
      clicks: clicks.length,
      'lost clicks': clicks.filter((click) => !recorded.has(click)).length,
      ...found,
      'compared, s': seconds(repairMs),
      reports,
    };
  }

  async function compareAgain() {
    await actors.pause();
    for (let count = 1; ; count++) {
      try {
        const primary = await cluster.untilHealthy();
        return await withStores(primary.url, (stores) => compare(primary, stores));
      } catch (error) {
        if (count === COMPARISONS_MAX) throw error;
      }
    }
  }

  const all = stack.move();
  return {
    /** Causes a fault under load, waits until the cluster is healthy, and compares the copies. */
    async play({ name, loses, strike }: Fault) {
      round += 1;
      fault = name;
      const leader = await cluster.untilHealthy();
      const timeline = await leader.timeline();
      actors.resume();
      await Bun.sleep(LOAD_MS);
      const beganAtMs = performance.now();
      let promotedAtMs = 0;
      await strike({
        ...{ cluster, leader, random: random('fault') },
        async untilPromoted() {
          const promoted = await untilPromoted(leader);
          promotedAtMs = performance.now();
          return promoted;
        },
      });
      const served = Promise.all(probes.map((probe) => probe.servedAfter(promotedAtMs)));
      const pages = await served.catch(async (error: unknown) => {
        await requireLaterThan(timeline);
        throw error;
      });
      await requireLaterThan(timeline);
      await Bun.sleep(LOAD_MS);
      const { timeline: lastTimeline, ...outcome } = await compareAgain();
      // On a busy machine, Patroni may promote more than once.
      const promotions = lastTimeline - timeline;
      const mayLose = mode !== 'synchronous' && (loses || promotions > 1);
      const { 'lost rows': lostRows, 'lost clicks': lostClicks, contradicted, extra, reports } = outcome;
      if (!mayLose && lostRows > 0) note('LOST', `${lostRows} rows of acknowledged imports`);
      if (!mayLose && lostClicks > 0) note('LOST', `${lostClicks} clicks`);
      if (contradicted > 0) note('CONTRADICTED', `${contradicted} rows of copies differ`);
      if (extra > 0 && (mode === 'synchronous' || reports.length === 0))
        note('EXTRA', `${extra} rows are only in copies`);
      if (!mayLose && reports.length > 0) note('FALSE ALARM', reports.join(' '));
      return {
        promotions,
        'promoted, s': seconds(promotedAtMs - beganAtMs),
        // Time from the promotion until the slower node answers.
        'first 200, s': seconds(Math.max(...pages) - promotedAtMs),
        ...outcome,
      };
    },
    /** The log of each node. */
    get logs(): readonly string[] {
      return nodes.map(({ logLines }) => logLines.join('\n'));
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      actors.end();
      await all.disposeAsync();
    },
  };
}

/** Every version of a transaction names the import that it comes from. */
const COUNT_SQL = `
  SELECT import, count(DISTINCT id)::integer AS rows
    FROM (SELECT id, document::json ->> 'passbackData' AS import FROM transactions
          UNION ALL
          SELECT id, document::json ->> 'passbackData' FROM history) AS versions
   GROUP BY import`;

/** Counts the rows of acknowledged imports that are not in the database, in any version. */
async function countLostRows(primary: Member, imports: readonly ImportResult[]): Promise<number> {
  const options = { database: DATABASE, timeoutMs: COUNT_TIMEOUT_MS };
  const found = await primary.query<{ import: string; rows: number }>(COUNT_SQL, options);
  const rowsOf = new Map(found.map(({ import: name, rows }) => [name, rows]));
  return imports
    .map(({ number, changes }) => changes - (rowsOf.get(`import ${number}`) ?? 0))
    .reduce((sum, rows) => sum + Math.max(0, rows), 0);
}

const seconds = (ms: number) => Math.round(ms / 100) / 10;
