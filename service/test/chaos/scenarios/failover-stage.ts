// Importers, pollers and clicks on two nodes, one with a multi-host URL and one with an address that follows the primary, while the
// primary fails over. After each failover, everything pauses, and the database is compared with the guarantees.

import type { Random } from '@offerbook/sandbox/random.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { importTransactions } from '../../../src/importer/import-transactions.ts';
import { transaction } from '../../support/fixtures.ts';
import { query, removePostgres } from '../../support/postgres-replica.ts';
import { postgresUrl } from '../../support/postgres-server.ts';
import { ndjson } from '../../support/test-node.ts';
import { until } from '../../support/until.ts';
import { startFaultProxy } from '../cluster/fault-proxy.ts';
import { Node } from '../cluster/node.ts';
import { Pair } from '../cluster/pair.ts';
import { createOrganisation, issueToken, withStores } from '../cluster/seed.ts';
import { Ledger } from '../model/ledger.ts';
import { getOrganisation, idsOf, ORGANISATIONS, type OrganisationName } from '../model/world.ts';
import { Actors } from '../report/actors.ts';
import type { Run } from '../report/run.ts';
import { Clickers, prepareClicks, untilRecorded } from '../traffic/clicks.ts';
import { buildFleet, catchUp, findDifferences, type Surroundings } from '../traffic/fleet.ts';
import type { ImportResult } from '../traffic/import-order.ts';
import { Importer } from '../traffic/importer.ts';
import { type ClockWitness, pageReader } from '../traffic/page-reader.ts';
import type { Poller } from '../traffic/pollers.ts';

export const MODES = ['synchronous', 'replica', 'asynchronous'] as const;
export type Mode = (typeof MODES)[number];

/**
 * The organisation with pollers; the others only have imports. It has no poller that continues from the greatest stamp: a failover
 * loses the records of walks, so that later pages of a walk contain newer changes than the first.
 */
const POLLED: OrganisationName = 'amber';
/** A new process looks for the primary again, as each command does. Machines of a cluster have synchronised clocks. */
const IMPORTS = { rowsMax: 40, clockErrorMs: 50, killShare: 0.1, outageMaxMs: 45_000 };
/** Load before and after a fault. */
const LOAD_MS = 1_000;
const REPAIR_TIMEOUT_MS = 60_000;
/** A node may use the old primary for this long after a promotion, if both accept writes. */
const SPLIT_MAX_MS = 2_000;
/** Clients that request a page from each node. They begin at different times, because a request may wait for two seconds. */
const PROBES = 4;

export interface Fault {
  readonly name: string;
  /** True if changes may be lost that an asynchronous primary has committed. */
  readonly loses: boolean;
  /** True if the old primary goes on accepting writes after the promotion. */
  readonly splits?: boolean;
  /** Disturbs the primary and promotes the standby. Afterwards, the old primary is not frozen. */
  strike(strike: { readonly pair: Pair; readonly random: Random; promote(): Promise<void> }): Promise<void>;
}

export async function openStage(run: Run, mode: Mode) {
  await using stack = new AsyncDisposableStack();
  const pair = stack.use(await Pair.start());
  const database = await pair.newDatabase();
  if (mode === 'synchronous') await pair.makeSynchronous();
  const proxy = stack.use(await startFaultProxy(pair.primary.port));
  const urls = [pair.url(database), postgresUrl(proxy.port, database)];
  const onPrimary = <Result>(work: (stores: Stores) => Promise<Result>) =>
    withStores(postgresUrl(pair.primary.port, database), work);
  const env = mode === 'replica' ? { OFFERBOOK_REPLICA_URL: pair.url(database) } : {};
  const clickingOrg = await prepareClicks(postgresUrl(pair.primary.port, database));
  const clickers = new Clickers(clickingOrg, { usersAtOnce: 1, pauseMs: 100 });
  const nodes = await Promise.all(urls.map(async (url) => stack.use(await Node.start(url, { env }))));
  const token = await onPrimary(async (stores) => {
    for (const name of ORGANISATIONS) {
      const org = await createOrganisation(stores, name);
      // A copy contradicts the loss of a change, but not the loss of a new transaction.
      const rows = ndjson(idsOf(name).map((id) => transaction(0, { id })));
      await importTransactions(stores.transactions, org, sourceFrom(rows), systemClock, {});
    }
    return issueToken(stores, await getOrganisation(stores, POLLED));
  });
  const untilServed = (node: Node) =>
    Promise.race(
      Array.from({ length: PROBES }, async (_, i) => {
        await Bun.sleep(i * 500);
        const isServed = () => node.get('/v1/transactions/?limit=1', token).then(({ ok }) => ok);
        await until(() => isServed().catch(() => false));
      }),
    );

  let [fault, round] = ['start', 0];
  const linesSeen = new Set<string>();
  const random = (...parts: (string | number)[]) => run.random(mode, round, ...parts);
  const note = (kind: string, what: string) => run.violation(kind, `${mode} ${fault}: ${what}`);
  const ledger = new Ledger((what) => note('STAMP', what));
  const actors = new Actors();
  let isOver = false;
  let splitUntilMs = 0;
  const walk = (poller: Poller, limit: number) =>
    poller.walk(limit).catch((error: unknown) => {
      if (!isOver) note('POLLER', `${poller.kind}: ${error instanceof Error ? error.message : error}`);
    });

  /**
   * Each poller must never see Complete-Through go back, except while a node may use the old primary; with a replica, only not
   * below the watermark that it asked for.
   */
  const reader: Surroundings['reader'] = (organisation, _random, send) => {
    const own: ClockWitness = { floor: '' };
    const everybody = ledger.witness(organisation);
    const fetchPage = pageReader(send, own, (what) => {
      const mayGoBack = mode === 'replica' && what.startsWith('complete through');
      const isSplit = what.includes('complete') && performance.now() < splitUntilMs;
      if (!mayGoBack && !isSplit) note('PAGE', what);
    });
    return async (pageQuery) => {
      const page = await fetchPage(pageQuery);
      if (page.completeThrough > everybody.floor) everybody.floor = page.completeThrough;
      return page;
    };
  };
  const build = (stores: Stores) => buildFleet([POLLED], { stores, nodes, random, reader });
  let fleet = await onPrimary(build);

  for (const [i, databaseUrl] of urls.entries()) {
    const own = random('importer', i);
    const importer = new Importer({ databaseUrl, ledger, random: own, ...IMPORTS });
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

  /** Lets every poller catch up, and compares the copies, and what was acknowledged since the last round, with the database. */
  async function compare(stores: Stores) {
    const countDifferences = async () => {
      await catchUp(fleet, ({ poller }) => walk(poller, 500));
      const found = await findDifferences(fleet, stores);
      const extra = found.filter(({ what }) => what === 'extra').length;
      const wrong = [...new Set(found.map(({ poller }) => poller))].join();
      return { contradicted: found.length - extra, extra, wrong };
    };
    const beganAtMs = performance.now();
    let found = await countDifferences();
    // A server may still be giving transactions new stamps.
    while (found.contradicted > 0 && performance.now() < beganAtMs + REPAIR_TIMEOUT_MS) {
      await Bun.sleep(500);
      found = await countDifferences();
    }
    const repairMs = performance.now() - beganAtMs;
    // A wrong copy must not count again in the next round.
    if (found.contradicted + found.extra > 0) fleet = await build(stores);
    const clicks = clickers.answered.splice(0);
    const recorded = await untilRecorded(stores, clicks);
    const imports = ledger.acknowledged.splice(0);
    const lostRows = countLostRows(await query(pair.primary, COUNT_SQL, database), imports);
    for (const { name } of await query<{ name: string }>(pair.primary, BEHIND_SQL, database))
      note('CLOCK', `the change clock of ${name} is earlier than a failover`);
    const news = nodes.flatMap(({ logLines }) => logLines).filter((line) => !linesSeen.has(line));
    for (const line of news) linesSeen.add(line);
    return {
      imports: imports.length,
      'lost rows': lostRows,
      clicks: clicks.length,
      'lost clicks': clicks.filter((click) => !recorded.has(click)).length,
      ...found,
      'compared, s': seconds(repairMs),
      /** Log lines that report a failover with lost changes. */
      reports: news.filter((line) => /failed over(?!; no change was lost)/.test(line)),
    };
  }

  const all = stack.move();
  return {
    /** Causes a fault under load, replaces the old primary by a new standby, and compares the copies. */
    async play({ name, loses, splits = false, strike }: Fault) {
      round += 1;
      fault = name;
      actors.resume();
      await Bun.sleep(LOAD_MS);
      /** Time from the promotion until the slower node answers. */
      let servedAfterMs = Promise.resolve(0);
      const promote = async () => {
        await pair.promote();
        proxy.moveTo(pair.standby.port);
        const promotedAtMs = performance.now();
        if (splits) splitUntilMs = run.flag('busy') ? Number.POSITIVE_INFINITY : promotedAtMs + SPLIT_MAX_MS;
        servedAfterMs = Promise.all(nodes.map(untilServed)).then(() => performance.now() - promotedAtMs);
      };
      await strike({ pair, random: random('fault'), promote });
      const firstPageMs = await servedAfterMs;
      const old = pair.primary;
      await removePostgres(old);
      splitUntilMs = 0;
      await pair.replacePrimary(old.port);
      if (mode === 'synchronous') await pair.makeSynchronous();
      await Bun.sleep(LOAD_MS);
      await actors.pause();
      const outcome = await onPrimary(compare);
      const mayLose = mode !== 'synchronous' && loses;
      const { 'lost rows': lostRows, 'lost clicks': lostClicks, contradicted, extra, reports } = outcome;
      if (!mayLose && lostRows > 0) note('LOST', `${lostRows} rows of acknowledged imports`);
      if (!mayLose && lostClicks > 0) note('LOST', `${lostClicks} clicks`);
      if (contradicted > 0) note('CONTRADICTED', `${contradicted} rows differ: ${outcome.wrong}`);
      if (extra > 0 && (mode === 'synchronous' || reports.length === 0))
        note('EXTRA', `${extra} rows are only in copies`);
      if (!mayLose && reports.length > 0) note('FALSE ALARM', reports.join(' '));
      return { 'first 200, s': seconds(firstPageMs), ...outcome };
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

/** Recording a failover moves all change clocks to the present, also those of organisations without later imports. */
const BEHIND_SQL = `
  SELECT name FROM organisations
   WHERE last_stamp < (SELECT max(at) FROM timelines WHERE id > (SELECT min(id) FROM timelines))`;

/** Counts the rows of acknowledged imports that are not in the database, in any version. */
function countLostRows(
  found: readonly { readonly import: string; readonly rows: number }[],
  imports: readonly ImportResult[],
): number {
  const rowsOf = new Map(found.map(({ import: name, rows }) => [name, rows]));
  return imports
    .map(({ number, changes }) => changes - (rowsOf.get(`import ${number}`) ?? 0))
    .reduce((sum, rows) => sum + Math.max(0, rows), 0);
}

const seconds = (ms: number) => Math.round(ms / 100) / 10;
