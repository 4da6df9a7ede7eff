// Reads the data for the console's overview page.

import {
  type DatabaseFigures,
  overviewPage as render,
  type WeekDay,
} from '@offerbook/site/console/overview-page.ts';
import { isStorageError } from '../../domain/storage-error.ts';
import type { Stores } from '../../domain/stores.ts';
import { sumClicks } from '../counts/click-totals.ts';
import type { MakePage, PageContext } from '../page-context.ts';

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;

export const overviewPage: MakePage = async (context) => {
  const { node, folder } = context;
  const database = await readFigures(context).catch((error: unknown) => {
    if (!isStorageError(error)) throw error;
    return { failure: error.message };
  });
  return render({ node, folder, database });
};

async function readFigures(context: PageContext): Promise<DatabaseFigures> {
  const stores = await context.stores();
  const { feeds } = await stores.imports.totals();
  const week = await readWeek(context, stores);
  return {
    feeds: feeds.toSorted((a, b) => (a.lastSuccessMs ?? 0) - (b.lastSuccessMs ?? 0)),
    week,
    importedRows: await readImportedRows(stores, week),
  };
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
