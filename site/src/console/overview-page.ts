// The overview: problems, key figures, plots, the freshness of each feed, and the node's state.

import { type Html, html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import {
  command,
  day,
  decimal,
  duration,
  facts,
  gigabytes,
  linked,
  megabytes,
  milliseconds,
  minute,
  number,
  plot,
  plots,
  section,
  share,
  since,
  source,
  table,
  tag,
} from './elements.ts';
import { type FeedFreshness, feedTable } from './imports-page.ts';
import type { MachineFigures, NodeFigures } from './node-figures.ts';

export interface Overview {
  readonly node: NodeFigures;
  /** Folder of the database or the spool; the page shows how full its disk is. */
  readonly folder: string;
  /** The error message if the database does not respond. */
  readonly database: DatabaseFigures | { readonly failure: string };
}

export interface DatabaseFigures {
  readonly expiringTokens: readonly ExpiringToken[];
  /** Catalogue feeds whose next import is late. */
  readonly lateCatalogues: readonly {
    readonly source: string | null;
    readonly lastMs: number;
    readonly usualMs: number;
  }[];
  /** Feeds whose last import did not succeed. */
  readonly failedFeeds: readonly FailedFeed[];
  /** Oldest success first. */
  readonly feeds: readonly FeedFreshness[];
  /** The last seven days, oldest first; the last one is today. */
  readonly week: readonly WeekDay[];
  readonly importedRows: readonly {
    readonly dayMs: number;
    readonly added: number;
    readonly changed: number;
    readonly invalid: number;
  }[];
}

export interface FailedFeed extends FeedFreshness {
  /** Undefined if the import log no longer contains the import. */
  readonly import: { readonly id: number; readonly reason: string | null } | undefined;
}

/** Clicks and sales of a day (UTC), and of the same day a week earlier. */
export interface WeekDay {
  readonly dayMs: number;
  readonly clicks: number;
  readonly clicksBefore: number;
  readonly sales: number;
  readonly salesBefore: number;
}

interface ExpiringToken {
  readonly id: string;
  readonly kind: string;
  readonly orgName: string;
  readonly expiresAtMs: number | null;
}

interface Warning {
  readonly words: Html;
  readonly remedy?: Html;
}

/** A disk is nearly full if less than this fraction of its size, or less than this many bytes, is free. */
const DISK_MIN_SHARE = 0.1;
const DISK_MIN_BYTES = 1e9;

export function overviewPage(overview: Overview): ConsolePage {
  const { node, database } = overview;
  const week = 'failure' in database ? undefined : database.week;
  return {
    title: 'Overview',
    main: html`${warningList([...nodeWarnings(overview), ...databaseWarnings(overview)])}
<section class="stack"><h2 class="unseen">Figures</h2>${keyFigures(node, week)}
${plots(...requestPlots(node), ...('failure' in database ? [] : databasePlots(database)), ...machinePlots(node))}
${source('offerbook_http_requests_total', 'offerbook_http_request_duration_seconds', 'offerbook activations totals', 'offerbook transactions totals')}
<p class="source">Requests: counted in memory for all workers of this node, over the last ${duration(node.hour.untilMs - node.hour.fromMs)}. Clicks and sales: by day in UTC; today until now, and the whole day a week ago.</p></section>
${'failure' in database ? undefined : freshness(database.feeds, node.nowMs)}
${section('Operations', routeTable(node))}
${section('Node', nodeFacts(overview))}`,
  };
}

function warningList(warnings: readonly Warning[]): Html {
  if (warnings.length === 0) return html`<p>${tag('ok', 'good')} No problems found.</p>`;
  return html`<ul class="stack" aria-label="Problems">${warnings.map(({ words, remedy }) => html`<li class="panel problem-item failure"><p>${words}</p>${remedy}</li>`)}</ul>`;
}

function keyFigures({ hour }: NodeFigures, week: readonly WeekDay[] | undefined): Html {
  const seconds = Math.max(1, (hour.untilMs - hour.fromMs) / 1_000);
  const { requests, refused, failed, p99Ms } = hour.all;
  const today = week?.at(-1);
  const { memoryBytes, disk } = hour.machine;
  return facts(
    [
      ['Requests per second', linked('#operations', decimal(requests / seconds, 2))],
      ['Refused (4xx)', linked('/errors', share(refused, requests))],
      ['Failed (5xx)', linked('/errors', share(failed, requests))],
      ['Response time, p99', requests === 0 ? '–' : linked('#operations', milliseconds(p99Ms))],
      ...(today === undefined
        ? []
        : ([
            ['Clicks today', comparison('/clicks', today.clicks, today.clicksBefore)],
            ['Sales today', comparison('/totals?by=day', today.sales, today.salesBefore)],
          ] as const)),
      ['Memory', linked('/metrics', html`<data value="${memoryBytes}">${megabytes(memoryBytes)}</data>`)],
      [
        'Disk free',
        disk === undefined
          ? 'unknown'
          : html`<data value="${disk.free}">${gigabytes(disk.free)}</data> <span class="muted">of ${gigabytes(disk.size)}</span>`,
      ],
    ],
    'four',
  );
}

function comparison(href: string, today: number, before: number): Html {
  return html`${linked(href, number(today))} <span class="muted">(${number(before)} a week ago)</span>`;
}

function requestPlots({ hour }: NodeFigures): Html[] {
  const rows = (cells: (one: (typeof whole)[number]) => readonly (Html | string)[]) =>
    whole.map((one) => [minute(one.fromMs), ...cells(one)]);
  // Leave out the current minute, which would look like a drop.
  const whole = hour.minutes.length > 1 ? hour.minutes.slice(0, -1) : hour.minutes;
  return [
    plot(
      'lines',
      'Requests per minute',
      'From (UTC)',
      [['Requests', 'blue']],
      rows(({ requests }) => [number(requests)]),
    ),
    plot(
      'bars',
      'Errors per minute',
      'From (UTC)',
      [
        ['Refused (4xx)', 'amber'],
        ['Failed (5xx)', 'red'],
      ],
      rows(({ refused, failed }) => [number(refused), number(failed)]),
    ),
    plot(
      'lines',
      'Response time, p99 (ms)',
      'From (UTC)',
      [['p99', 'purple']],
      rows(({ requests, p99Ms }) => [requests === 0 ? '–' : decimal(p99Ms, p99Ms < 10 ? 2 : 0)]),
    ),
  ];
}

function databasePlots({ week, importedRows }: DatabaseFigures): Html[] {
  const plotOf = (caption: string, cells: (one: WeekDay) => readonly [number, number]) =>
    plot(
      'lines',
      caption,
      'Day (UTC)',
      [
        ['Last 7 days', 'green'],
        ['A week earlier', 'grey'],
      ],
      week.map((one) => [day(one.dayMs), ...cells(one).map(number)]),
    );
  return [
    plot(
      'bars',
      'Rows imported per day',
      'Day (UTC)',
      [
        ['Added', 'green'],
        ['Changed', 'blue'],
        ['Invalid', 'red'],
      ],
      importedRows.map(({ dayMs, added, changed, invalid }) => [
        day(dayMs),
        ...[added, changed, invalid].map(number),
      ]),
    ),
    plotOf('Clicks per day', ({ clicks, clicksBefore }) => [clicks, clicksBefore]),
    plotOf('Sales per day', ({ sales, salesBefore }) => [sales, salesBefore]),
  ];
}

function machinePlots({ hour: { minutes } }: NodeFigures): Html[] {
  return [
    plot(
      'lines',
      'Memory (MB)',
      'Until (UTC)',
      [['Resident', 'blue']],
      minutes.map(({ untilMs, machine }) => [minute(untilMs), decimal(machine.memoryBytes / 1e6, 0)]),
    ),
    plot(
      'lines',
      'Disk used',
      'Until (UTC)',
      [['Used', 'blue']],
      minutes.map(({ untilMs, machine: { disk } }) => [
        minute(untilMs),
        disk === undefined ? '–' : share(disk.size - disk.free, disk.size),
      ]),
    ),
  ];
}

function freshness(feeds: readonly FeedFreshness[], nowMs: number): Html {
  return section(
    'Imports',
    feedTable(feeds, nowMs),
    source('offerbook doctor', 'offerbook_import_last_success_timestamp_seconds'),
  );
}

function routeTable({ hour }: NodeFigures): Html {
  const rows = hour.routes.map(({ route, requests, refused, failed, p50Ms, p99Ms }) => [
    html`<code>${route}</code>`,
    number(requests),
    linked('/errors', share(refused, requests)),
    linked('/errors', share(failed, requests)),
    milliseconds(p50Ms),
    milliseconds(p99Ms),
  ]);
  const headings = ['Operation', 'Requests', 'Refused', 'Failed', 'p50', 'p99'];
  return table('Requests by operation', headings, rows, 'No requests yet.');
}

function nodeFacts({ node, folder }: Overview): Html {
  const { state, workers, startedAtMs, nowMs } = node;
  const { replica, catalogueRevision } = state;
  return html`${facts([
    ['Up since', since(startedAtMs, nowMs)],
    ['Ready', state.isReady ? tag('ready', 'good') : tag('not ready', 'bad')],
    ['Database', state.isDatabaseUsable ? tag('usable', 'good') : tag('unusable', 'bad')],
    ['Replica', replica === undefined ? 'none' : replicaWords(replica)],
    ['Workers ready', html`${number(state.workers.ready)} of ${number(workers)}`],
    ['Workers replaced', number(state.workers.restarts)],
    [
      'Catalogue revision',
      catalogueRevision === undefined ? 'none' : linked('/catalogue', number(catalogueRevision)),
    ],
  ])}${source(
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

function replicaWords({ isUsable, lagMs }: NonNullable<NodeFigures['state']['replica']>): Html {
  return html`${isUsable ? tag('in use', 'good') : tag('not in use', 'bad')} ${duration(lagMs)} behind`;
}

function isNearlyFull(disk: MachineFigures['disk']): disk is NonNullable<MachineFigures['disk']> {
  return disk !== undefined && (disk.free < DISK_MIN_BYTES || disk.free < DISK_MIN_SHARE * disk.size);
}

function nodeWarnings({ node, folder }: Overview): Warning[] {
  const { state, workers, hour } = node;
  const { disk } = hour.machine;
  const unresponsive = workers - state.workers.ready;
  const found: Html[] = [];
  if (!state.isReady) found.push(html`The node is not ready. The load balancer should not send it requests.`);
  if (unresponsive > 0 && state.isReady)
    found.push(
      html`${number(unresponsive)} of ${number(workers)} workers ${unresponsive === 1 ? 'does' : 'do'} not respond. See the log for the reason.`,
    );
  if (state.cluster !== undefined && state.cluster.rivals.length > 0)
    found.push(
      html`Former PostgreSQL primaries still accept writes: ${state.cluster.rivals.join(', ')}. Stop them, because changes written to them will be lost.`,
    );
  if (state.cluster?.isUnsettled === true)
    found.push(
      html`PostgreSQL has failed over, and no server knows whether changes were lost. If replication was asynchronous, run <code>offerbook failover mark</code>; if it was synchronous, add <code>--nothing-lost</code>.`,
    );
  if (state.replica?.isUsable === false)
    found.push(html`The replica is not in use; pages are read from the primary. See the log for the reason.`);
  if (state.areClicksSpooled)
    found.push(html`Clicks are written to the spool, because the database does not accept them.`);
  if (state.isClickDiskLow)
    found.push(
      html`A disk that stores clicks has less free space than <code>--disk-reserve</code>, so clicks are not written to it. Free some space.`,
    );
  if (isNearlyFull(disk))
    found.push(
      html`The disk that contains <code>${folder}</code> is nearly full (${gigabytes(disk.free)} left), and writes will fail when it is full. Free some space; a purge does not help, because it frees space only inside the SQLite file.`,
    );
  return found.map((words) => ({ words }));
}

function databaseWarnings({ database, node: { nowMs } }: Overview): Warning[] {
  if ('failure' in database)
    return [
      {
        words: html`The database does not respond: ${database.failure}. The catalogue is still served from memory.`,
      },
    ];
  const { expiringTokens, lateCatalogues, failedFeeds } = database;
  return [
    ...expiringTokens.map(({ id, kind, orgName, expiresAtMs }) => ({
      words: html`A ${kind} token of <bdi>${orgName}</bdi> expires ${since(expiresAtMs, nowMs)}.`,
      remedy: command('Replace it; the old token stays valid for a day:', `offerbook tokens rotate ${id}`),
    })),
    ...lateCatalogues.map(({ source: name, lastMs, usualMs }) => ({
      words: html`The catalogue${name === null ? undefined : html` from <bdi>${name}</bdi>`} is older than usual: the last import was ${since(lastMs, nowMs)}, and the usual interval is ${duration(usualMs)}.`,
      remedy: command('See how the last imports ended:', 'offerbook imports list --kind catalogue'),
    })),
    ...failedFeeds.map((feed) => ({
      words: html`The last import of ${feed.kind}${feed.orgName === null ? undefined : html` for <bdi>${feed.orgName}</bdi>`}${feed.source === null ? undefined : html` from <bdi>${feed.source}</bdi>`} was ${feed.lastOutcome}, ${since(feed.lastEndedMs, nowMs)}${feed.import?.reason ? html`: <bdi>${feed.import.reason}</bdi>` : undefined}. Last success: ${since(feed.lastSuccessMs, nowMs)}.`,
      remedy:
        feed.import === undefined
          ? command('See why:', `offerbook imports list --kind ${feed.kind}`)
          : html`<p><a href="/imports/${feed.import.id}">See why import ${feed.import.id} was ${feed.lastOutcome}</a></p>`,
    })),
  ];
}
