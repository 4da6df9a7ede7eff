// Importers, pollers and clicks while the primary fails over. After each failover, everything pauses, and the copies are compared
// with the database.

import type { Stores } from '../../../src/domain/stores.ts';
import { type Mode, openFailoverCluster } from '../cluster/failover-cluster.ts';
import type { PrimaryFault } from '../cluster/primary-faults.ts';
import { Ledger } from '../model/ledger.ts';
import { countLostRows, findClocksBehind } from '../model/lost-rows.ts';
import type { OrganisationName } from '../model/world.ts';
import { Actors } from '../report/actors.ts';
import type { Run } from '../report/run.ts';
import { newClickers, untilRecorded } from '../traffic/clicks.ts';
import { buildFleet, catchUp, findDifferences, type Surroundings } from '../traffic/fleet.ts';
import { openImporter } from '../traffic/importer.ts';
import { type ClockWitness, pageReader } from '../traffic/page-reader.ts';
import type { Poller } from '../traffic/pollers.ts';

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
type Note = (kind: string, what: string) => void;

export async function openStage(run: Run, mode: Mode) {
  await using stack = new AsyncDisposableStack();
  const cluster = await openFailoverCluster(run, stack, mode);
  const { pair, database, nodes, onPrimary } = cluster;
  const clickers = newClickers(cluster.clickingOrg, { usersAtOnce: 1, pauseMs: 100 });

  let round = 0;
  let note: Note = (kind, what) => run.violation(kind, `${mode} start: ${what}`);
  const random = (...parts: (string | number)[]) => run.random(mode, round, ...parts);
  const ledger = new Ledger((what) => note('STAMP', what));
  const actors = new Actors();
  let isOver = false;
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
      const mayUseOld = what.includes('complete') && cluster.isSplit();
      if (!mayGoBack && !mayUseOld) note('PAGE', what);
    });
    return async (pageQuery) => {
      const page = await fetchPage(pageQuery);
      if (page.completeThrough > everybody.floor) everybody.floor = page.completeThrough;
      return page;
    };
  };
  const build = (stores: Stores) => buildFleet([POLLED], { stores, nodes, random, reader });
  let fleet = await onPrimary(build);

  for (const [i, databaseUrl] of cluster.urls.entries()) {
    const own = random('importer', i);
    const importer = openImporter({ databaseUrl, ledger, random: own, ...IMPORTS });
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

  /** Lets every poller catch up, and compares its copy with the database. */
  async function compareCopies(stores: Stores) {
    await catchUp(fleet, ({ poller }) => walk(poller, 500));
    const found = await findDifferences(fleet, stores);
    const extra = found.filter(({ what }) => what === 'extra').length;
    const wrong = [...new Set(found.map(({ poller }) => poller))].join();
    return { contradicted: found.length - extra, extra, wrong };
  }

  /** Compares the copies, and what was acknowledged since the last round, with the database. */
  async function compare(stores: Stores) {
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
    const clicks = clickers.answered.splice(0);
    const recorded = await untilRecorded(stores, clicks);
    const imports = ledger.acknowledged.splice(0);
    return {
      imports: imports.length,
      'lost rows': await countLostRows(pair.primary, database, imports),
      behind: await findClocksBehind(pair.primary, database),
      clicks: clicks.length,
      'lost clicks': clicks.filter((click) => !recorded.has(click)).length,
      ...found,
      'compared, s': seconds(repairMs),
    };
  }

  const all = stack.move();
  return {
    /** Causes a fault under load, replaces the old primary by a new standby, and compares the copies. */
    async play(fault: PrimaryFault, onViolation: Note) {
      round += 1;
      note = onViolation;
      const linesBefore = nodes.map(({ logLines }) => logLines.length);
      actors.resume();
      await Bun.sleep(LOAD_MS);
      const firstPageMs = await cluster.failOver(fault, random('fault'));
      await Bun.sleep(LOAD_MS);
      await actors.pause();
      const outcome = await onPrimary(compare);
      const news = nodes.flatMap(({ logLines }, i) => logLines.slice(linesBefore[i]));
      /** Log lines that report a failover with lost changes. */
      const reports = news.filter((line) => /failed over(?!; no change was lost)/.test(line));
      return { 'first 200, s': seconds(firstPageMs), ...outcome, reports };
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      actors.end();
      await all.disposeAsync();
    },
  };
}

const seconds = (ms: number) => Math.round(ms / 100) / 10;
