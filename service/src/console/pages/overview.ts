// The overview: problems, key figures, plots, the freshness of each feed, and the node's state.

import * as ui from '@offerbook/site/console/elements.ts';
import { type Html, html } from '@offerbook/site/html.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import type { ImportCounts } from '../../domain/import-log.ts';
import { isStorageError } from '../../domain/storage-error.ts';
import type { Stores } from '../../domain/stores.ts';
import type { Check } from '../../health/check.ts';
import { sumClicks } from '../counts/click-totals.ts';
import type { MakePage, NodeView, PageContext } from '../page-context.ts';
import { freshness } from './imports.ts';

const WEEK_DAYS = 7;

/** The page that shows more about a check. */
const PAGES: Readonly<Record<string, string>> = {
  'import of catalogue': '/imports?kind=catalogue',
  'import of links': '/imports?kind=links',
  'import of transactions': '/imports?kind=transactions',
  'write lock': '/imports',
  tokens: '/organisations',
  webhooks: '/webhooks',
  pulls: '/pulls',
};

export const overviewPage: MakePage = async (context) => {
  const { node, folder } = context;
  const database = await readFigures(context).catch((error: unknown) => {
    if (!isStorageError(error)) throw error;
    return { failure: error.message };
  });
  const figures = 'failure' in database ? undefined : database;
  return {
    title: 'Overview',
    main: html`${problemList(node.state.checks)}
${'failure' in database ? html`<p class="failure">The database does not respond: ${database.failure}.</p>` : undefined}
<section class="stack"><h2 class="unseen">Figures</h2>${keyFigures(node, figures?.week)}
${ui.plots(...requestPlots(node), ...(figures === undefined ? [] : databasePlots(figures)), ...machinePlots(node))}
${ui.source('offerbook_http_requests_total', 'offerbook_http_request_duration_seconds', 'offerbook activations totals', 'offerbook transactions totals')}
<p class="source">Requests: counted in memory for all workers of this node, over the last ${ui.duration(node.hour.untilMs - node.hour.fromMs)}. Clicks and sales: by day in UTC; today until now, and the whole day a week ago.</p></section>
${figures && freshness('Imports', figures.feeds, node.nowMs)}
${ui.section('Operations', routeTable(node))}
${ui.section('Node', nodeFacts(node, folder))}`,
  };
};

type Figures = Awaited<ReturnType<typeof readFigures>>;

async function readFigures(context: PageContext) {
  const stores = await context.stores();
  const { feeds } = await stores.imports.totals();
  const week = await readWeek(context, stores);
  const imports = await stores.imports.days(week[0]?.dayMs ?? 0);
  return {
    // Oldest success first.
    feeds: feeds.toSorted((a, b) => (a.lastSuccessMs ?? 0) - (b.lastSuccessMs ?? 0)),
    week,
    importedRows: week.map(({ dayMs }) => {
      return { dayMs, counts: imports.filter((one) => one.dayMs === dayMs).map(({ counts }) => counts) };
    }),
  };
}

/** Returns the clicks and sales of the last seven days, oldest first, and of the same days a week earlier. */
async function readWeek({ node, clicks }: PageContext, stores: Stores) {
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

function problemList(checks: readonly Check[]): Html {
  const problems = checks.filter(({ state }) => state !== 'ok');
  return html`${
    problems.length === 0
      ? html`<p>${ui.tag('ok', 'good')} No problems found.</p>`
      : html`<ul class="stack" aria-label="Problems">${problems.map(problemItem)}</ul>`
  }${ui.source('offerbook doctor', 'offerbook_check')}`;
}

function problemItem({ check, state, found, advice }: Check): Html {
  const page = PAGES[check];
  const name = html`<strong>${check}</strong>`;
  return html`<li class="panel problem-item failure row"><p>${ui.tag(state, state === 'fault' ? 'bad' : 'pending')} ${page === undefined ? name : ui.linked(page, name)}: <bdi>${found}</bdi></p>${remedy(advice ?? '')}</li>`;
}

/** Advice that ends with a command gets a button that copies the command. */
function remedy(advice: string): Html {
  const [, about = '', text] = /^(.*:) (offerbook [^;]+)$/.exec(advice) ?? [];
  return text === undefined ? html`<p>What to do: ${advice}.</p>` : ui.command(`What to do: ${about}`, text);
}

function keyFigures({ hour }: NodeView, week: Figures['week'] | undefined): Html {
  const seconds = Math.max(1, (hour.untilMs - hour.fromMs) / 1_000);
  const { requests, refused, failed, p99Ms } = hour.all;
  const today = week?.at(-1);
  const { memoryBytes, disk } = hour.machine;
  return ui.facts(
    {
      'Requests per second': ui.linked('#operations', ui.decimal(requests / seconds, 2)),
      'Refused (4xx)': ui.linked('/errors', ui.share(refused, requests)),
      'Failed (5xx)': ui.linked('/errors', ui.share(failed, requests)),
      'Response time, p99': requests === 0 ? '–' : ui.linked('#operations', ui.milliseconds(p99Ms)),
      ...(today && {
        'Clicks today': comparison('/clicks', today.clicks, today.clicksBefore),
        'Sales today': comparison('/totals?by=day', today.sales, today.salesBefore),
      }),
      Memory: ui.linked('/metrics', html`<data value="${memoryBytes}">${ui.megabytes(memoryBytes)}</data>`),
      'Disk free':
        disk === undefined
          ? 'unknown'
          : html`<data value="${disk.free}">${ui.gigabytes(disk.free)}</data> <span class="muted">of ${ui.gigabytes(disk.size)}</span>`,
    },
    'tiles',
  );
}

function comparison(href: string, today: number, before: number): Html {
  return html`${ui.linked(href, ui.number(today))} <span class="muted">(${ui.number(before)} a week ago)</span>`;
}

function requestPlots({ hour }: NodeView): Html[] {
  // Leave out the current minute, which would look like a drop.
  const whole = hour.minutes.length > 1 ? hour.minutes.slice(0, -1) : hour.minutes;
  const from = { 'From (UTC)': ({ fromMs }: (typeof whole)[number]) => ui.minute(fromMs) };
  return [
    ui.plot('lines', 'Requests per minute', whole, from, {
      Requests: ['blue', ({ requests }) => ui.number(requests)],
    }),
    ui.plot('bars', 'Errors per minute', whole, from, {
      'Refused (4xx)': ['amber', ({ refused }) => ui.number(refused)],
      'Failed (5xx)': ['red', ({ failed }) => ui.number(failed)],
    }),
    ui.plot('lines', 'Response time, p99 (ms)', whole, from, {
      p99: [
        'purple',
        ({ requests, p99Ms }) => (requests === 0 ? '–' : ui.decimal(p99Ms, p99Ms < 10 ? 2 : 0)),
      ],
    }),
  ];
}

function databasePlots({ week, importedRows }: Figures): Html[] {
  const onDay = { 'Day (UTC)': ({ dayMs }: { readonly dayMs: number }) => ui.day(dayMs) };
  const rows = (name: keyof ImportCounts) => (row: Figures['importedRows'][number]) =>
    ui.number(row.counts.reduce((total, counts) => total + counts[name], 0));
  return [
    ui.plot('bars', 'Rows imported per day', importedRows, onDay, {
      Added: ['green', rows('added')],
      Changed: ['blue', rows('changed')],
      Invalid: ['red', rows('invalid')],
    }),
    ui.plot('lines', 'Clicks per day', week, onDay, {
      'Last 7 days': ['green', ({ clicks }) => ui.number(clicks)],
      'A week earlier': ['grey', ({ clicksBefore }) => ui.number(clicksBefore)],
    }),
    ui.plot('lines', 'Sales per day', week, onDay, {
      'Last 7 days': ['green', ({ sales }) => ui.number(sales)],
      'A week earlier': ['grey', ({ salesBefore }) => ui.number(salesBefore)],
    }),
  ];
}

function machinePlots({ hour: { minutes } }: NodeView): Html[] {
  const until = { 'Until (UTC)': ({ untilMs }: (typeof minutes)[number]) => ui.minute(untilMs) };
  return [
    ui.plot('lines', 'Memory (MB)', minutes, until, {
      Resident: ['blue', ({ machine }) => ui.decimal(machine.memoryBytes / 1e6, 0)],
    }),
    ui.plot('lines', 'Disk used (%)', minutes, until, {
      Used: [
        'blue',
        ({ machine: { disk } }) => (disk === undefined ? '–' : ui.share(disk.size - disk.free, disk.size)),
      ],
    }),
  ];
}

function routeTable({ hour }: NodeView): Html {
  return ui.table(
    'Requests by operation',
    hour.routes,
    {
      Operation: ({ route }) => html`<code>${route}</code>`,
      Requests: ({ requests }) => ui.number(requests),
      Refused: ({ refused, requests }) => ui.linked('/errors', ui.share(refused, requests)),
      Failed: ({ failed, requests }) => ui.linked('/errors', ui.share(failed, requests)),
      p50: ({ p50Ms }) => ui.milliseconds(p50Ms),
      p99: ({ p99Ms }) => ui.milliseconds(p99Ms),
    },
    'No requests yet.',
  );
}

function nodeFacts({ state, workers, startedAtMs, nowMs }: NodeView, folder: string): Html {
  const { replica, catalogueRevision } = state;
  return html`${ui.facts({
    Started: ui.ago(startedAtMs, nowMs),
    Ready: state.isReady ? ui.tag('ready', 'good') : ui.tag('not ready', 'bad'),
    Database: ui.tag(state.databaseStatus.state, state.databaseStatus.state === 'usable' ? 'good' : 'bad'),
    Replica:
      replica === undefined
        ? 'none'
        : html`${replica.isUsable ? ui.tag('in use', 'good') : ui.tag('not in use', 'bad')} ${ui.duration(replica.lagMs)} behind`,
    'Workers ready': html`${ui.number(state.workers.ready)} of ${ui.number(workers)}`,
    'Workers replaced': ui.number(state.workers.restarts),
    'Catalogue revision':
      catalogueRevision === undefined ? 'none' : ui.linked('/catalogue', ui.number(catalogueRevision)),
  })}${ui.source(
    'offerbook_ready',
    'offerbook_database_usable',
    'offerbook_replica_lag_seconds',
    'offerbook_workers_ready',
    'offerbook_worker_restarts_total',
    'offerbook_catalogue_revision',
    'process_resident_memory_bytes',
    `df ${folder}`,
  )}`;
}
