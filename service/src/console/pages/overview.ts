// Reads the data for the console's overview page.

import {
  type DatabaseFigures,
  type FailedFeed,
  overviewPage as render,
  type WeekDay,
} from '@offerbook/site/console/overview-page.ts';
import { isExpiring } from '../../domain/access-token.ts';
import type { ImportEntry, ImportFeed } from '../../domain/import-log.ts';
import { isStorageError } from '../../domain/storage-error.ts';
import type { Stores } from '../../domain/stores.ts';
import { sumClicks } from '../counts/click-totals.ts';
import type { MakePage, PageContext } from '../page-context.ts';

/**
 * A feed's usual interval is the median over its imports among the last USUAL_IMPORTS of all feeds. An import is late after
 * LATE_FACTOR times that.
 */
const USUAL_IMPORTS = 100;
const LATE_FACTOR = 3;
const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;
/** Number of recent imports of each kind that are searched for the failed one. */
const FAILED_MAX = 50;

export const overviewPage: MakePage = async (context) => {
  const { node, folder } = context;
  return render({ node, folder, database: await figuresOrFailure(context) });
};

async function figuresOrFailure(
  context: PageContext,
): Promise<DatabaseFigures | { readonly failure: string }> {
  try {
    return await readFigures(context);
  } catch (error) {
    if (!isStorageError(error)) throw error;
    return { failure: error.message };
  }
}

async function readFigures(context: PageContext): Promise<DatabaseFigures> {
  const { nowMs } = context.node;
  const stores = await context.stores();
  const { tokens } = await stores.tokens.list();
  const imports = await stores.imports.list({ kind: 'catalogue', outcome: 'done', limit: USUAL_IMPORTS });
  const { feeds } = await stores.imports.totals();
  const week = await readWeek(context, stores);
  return {
    expiringTokens: tokens.filter((token) => isExpiring(token, nowMs)),
    lateCatalogues: lateCatalogues(feeds, imports, nowMs),
    failedFeeds: await Array.fromAsync(
      feeds.filter(({ lastOutcome }) => lastOutcome !== 'done'),
      (feed) => findFailure(stores, feed),
    ),
    feeds: feeds.toSorted((a, b) => (a.lastSuccessMs ?? 0) - (b.lastSuccessMs ?? 0)),
    week,
    importedRows: await readImportedRows(stores, week),
  };
}

/** Adds the import that failed, if the import log still has it. */
async function findFailure(stores: Stores, feed: ImportFeed): Promise<FailedFeed> {
  const { kind, lastOutcome: outcome, orgName, lastEndedMs } = feed;
  const entries = await stores.imports.list({ kind, outcome, limit: FAILED_MAX });
  const entry = entries.find((one) => one.orgName === orgName && one.endedAtMs === lastEndedMs);
  return { ...feed, import: entry && { id: entry.id, reason: entry.reason } };
}

/** Returns the clicks and sales of the last seven days, and of the same days a week earlier. */
async function readWeek({ node, clicks }: PageContext, stores: Stores): Promise<WeekDay[]> {
  const days = await clicks.count(stores.clicks, node.nowMs, 2 * WEEK_DAYS);
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const sales = await stores.totals.countDays(dayOf(days[0]?.dayMs ?? 0));
  const salesOf = new Map(sales.map(({ day, count }) => [day, count]));
  const figures = days.map(({ dayMs, counts }) => ({
    dayMs,
    clicks: sumClicks(counts).clicks,
    sales: salesOf.get(dayOf(dayMs)) ?? 0,
  }));
  const clicksAndSales = new Map(figures.map((day) => [day.dayMs, day]));
  return figures.slice(-WEEK_DAYS).map((day) => {
    const before = clicksAndSales.get(day.dayMs - WEEK_DAYS * DAY_MS);
    return { ...day, clicksBefore: before?.clicks ?? 0, salesBefore: before?.sales ?? 0 };
  });
}

async function readImportedRows(stores: Stores, week: readonly WeekDay[]) {
  const days = await stores.imports.days(week[0]?.dayMs ?? 0);
  return week.map(({ dayMs }) => {
    const counts = days.filter((day) => day.dayMs === dayMs).map((day) => day.counts);
    const sum = (name: 'added' | 'changed' | 'invalid') =>
      counts.reduce((total, count) => total + count[name], 0);
    return { dayMs, added: sum('added'), changed: sum('changed'), invalid: sum('invalid') };
  });
}

/** Returns the catalogue feeds whose next import is late. Feeds with fewer than four imports have no usual interval. */
function lateCatalogues(
  feeds: readonly ImportFeed[],
  newestFirst: readonly ImportEntry[],
  nowMs: number,
): DatabaseFigures['lateCatalogues'] {
  return feeds.flatMap(({ kind, source }) => {
    if (kind !== 'catalogue') return [];
    const times = newestFirst
      .filter((entry) => source === null || entry.source === source)
      .map(({ beganAtMs }) => beganAtMs);
    const [lastMs] = times;
    const pauses = times
      .slice(1)
      .map((ms, i) => (times[i] ?? ms) - ms)
      .toSorted((a, b) => a - b);
    const usualMs = pauses[Math.floor(pauses.length / 2)];
    if (lastMs === undefined || usualMs === undefined || pauses.length < 3) return [];
    return nowMs - lastMs > LATE_FACTOR * usualMs ? { source, lastMs, usualMs } : [];
  });
}
