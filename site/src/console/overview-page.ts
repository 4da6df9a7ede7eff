// The overview: warnings, requests in the last hour, and the node's state.

import { type Html, html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import {
  bytes,
  command,
  decimal,
  duration,
  facts,
  milliseconds,
  minute,
  number,
  plot,
  section,
  share,
  since,
  source,
  table,
  tag,
} from './elements.ts';
import type { FeedFreshness } from './imports-page.ts';
import type { NodeFigures } from './node-figures.ts';

export interface Overview {
  readonly node: NodeFigures;
  /** Folder of the database or the spool; the page shows how full its disk is. */
  readonly folder: string;
  /** Undefined if the file system does not report it. */
  readonly disk: Disk | undefined;
  /** The error message if the database does not respond. */
  readonly database: DatabaseConcerns | { readonly failure: string };
}

export interface Disk {
  readonly free: number;
  readonly size: number;
  readonly isNearlyFull: boolean;
}

/** Problems that need attention, as recorded in the database. */
export interface DatabaseConcerns {
  readonly expiringTokens: readonly ExpiringToken[];
  /** Undefined if the next catalogue import is not late. */
  readonly lateCatalogue: { readonly lastMs: number; readonly usualMs: number } | undefined;
  /** Feeds whose last import did not succeed. */
  readonly failedFeeds: readonly FeedFreshness[];
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

export function overviewPage(overview: Overview): ConsolePage {
  const { node } = overview;
  return {
    title: 'Overview',
    main: html`${section('Problems', warningList([...nodeWarnings(overview), ...databaseWarnings(overview)]))}
${section('Requests', requestFacts(node), requestPlot(node), routeTable(node))}
${section('Node', nodeFacts(overview))}`,
  };
}

function warningList(warnings: readonly Warning[]): Html {
  if (warnings.length === 0) return html`<p>${tag('ok', 'good')} No problems found.</p>`;
  return html`<ul class="stack">${warnings.map(({ words, remedy }) => html`<li class="panel stack failure"><p>${words}</p>${remedy}</li>`)}</ul>`;
}

function requestFacts({ hour, startedAtMs }: NodeFigures): Html {
  const seconds = Math.max(1, (hour.untilMs - hour.fromMs) / 1_000);
  const { requests, refused, failed } = hour.all;
  const span = hour.fromMs === startedAtMs ? 'since start' : 'in the last hour';
  return html`${facts([
    [`Requests ${span}`, number(requests)],
    ['Requests per second', decimal(requests / seconds, 2)],
    ['Refused (4xx)', share(refused, requests)],
    ['Failed (5xx)', share(failed, requests)],
  ])}${source('offerbook_http_requests_total', 'offerbook_http_request_duration_seconds')}
<p class="source">Counted in memory for all workers of this node, over the last ${duration(hour.untilMs - hour.fromMs)}.</p>`;
}

function requestPlot({ hour }: NodeFigures): Html {
  // Leave out the current minute, which would look like a drop.
  const whole = hour.minutes.length > 1 ? hour.minutes.slice(0, -1) : hour.minutes;
  const rows = whole.map((one) => [
    minute(one.fromMs),
    number(one.requests),
    number(one.refused),
    number(one.failed),
  ]);
  return plot('lines', 'Requests per minute', ['From (UTC)', 'Requests', 'Refused', 'Failed'], rows);
}

function routeTable({ hour }: NodeFigures): Html {
  const rows = hour.routes.map(({ route, requests, refused, failed, p50Ms, p99Ms }) => [
    html`<code>${route}</code>`,
    number(requests),
    share(refused, requests),
    share(failed, requests),
    milliseconds(p50Ms),
    milliseconds(p99Ms),
  ]);
  const headings = ['Operation', 'Requests', 'Refused', 'Failed', 'p50', 'p99'];
  return table('Requests by operation', headings, rows, 'No requests yet.');
}

function nodeFacts({ node, folder, disk }: Overview): Html {
  const { state, workers, startedAtMs, nowMs } = node;
  const { replica } = state;
  return html`${facts([
    ['Up since', since(startedAtMs, nowMs)],
    ['Ready', state.isReady ? tag('ready', 'good') : tag('not ready', 'bad')],
    ['Database', state.isDatabaseUsable ? tag('usable', 'good') : tag('unusable', 'bad')],
    ['Replica', replica === undefined ? 'none' : replicaWords(replica)],
    ['Workers ready', html`${number(state.workers.ready)} of ${number(workers)}`],
    ['Workers replaced', number(state.workers.restarts)],
    ['Catalogue revision', state.catalogueRevision === undefined ? 'none' : number(state.catalogueRevision)],
    ['Disk free', disk === undefined ? 'unknown' : `${bytes(disk.free)} of ${bytes(disk.size)}`],
  ])}${source(
    'offerbook_ready',
    'offerbook_database_usable',
    'offerbook_replica_lag_seconds',
    'offerbook_workers_ready',
    'offerbook_worker_restarts_total',
    'offerbook_catalogue_revision',
    `df ${folder}`,
  )}`;
}

function replicaWords({ isUsable, lagMs }: NonNullable<NodeFigures['state']['replica']>): Html {
  return html`${isUsable ? tag('in use', 'good') : tag('not in use', 'bad')} ${duration(lagMs)} behind`;
}

function nodeWarnings({ node, folder, disk }: Overview): Warning[] {
  const { state, workers } = node;
  const unresponsive = workers - state.workers.ready;
  const found: Html[] = [];
  if (!state.isReady) found.push(html`The node is not ready. The load balancer should not send it requests.`);
  if (unresponsive > 0 && state.isReady)
    found.push(
      html`${number(unresponsive)} of ${number(workers)} workers ${unresponsive === 1 ? 'does' : 'do'} not respond. See the log for the reason.`,
    );
  if (state.cluster !== undefined && state.cluster.rivals.length > 0)
    found.push(
      html`PostgreSQL servers that were replaced still accept writes: ${state.cluster.rivals.join(', ')}. Stop them; changes that are written to them will be lost.`,
    );
  if (state.replica?.isUsable === false)
    found.push(html`The replica is not in use; pages are read from the primary. See the log for the reason.`);
  if (state.areClicksSpooled)
    found.push(html`Clicks are written to the spool, because the database does not accept them.`);
  if (state.isClickDiskLow)
    found.push(
      html`A disk that stores clicks has less free space than <code>--disk-reserve</code>, so clicks are not written to it. Free some space.`,
    );
  if (disk?.isNearlyFull === true)
    found.push(
      html`The disk that contains <code>${folder}</code> is nearly full (${bytes(disk.free)} left), and writes will fail when it is full. Free some space; a purge does not help, because it frees space only inside the SQLite file.`,
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
  const { expiringTokens, lateCatalogue, failedFeeds } = database;
  return [
    ...expiringTokens.map(({ id, kind, orgName, expiresAtMs }) => ({
      words: html`A ${kind} token of <bdi>${orgName}</bdi> expires ${since(expiresAtMs, nowMs)}.`,
      remedy: command('Replace it; the old token stays valid for a day:', `offerbook tokens rotate ${id}`),
    })),
    ...(lateCatalogue === undefined
      ? []
      : [
          {
            words: html`The catalogue is older than usual: the last import was ${since(lateCatalogue.lastMs, nowMs)}, and the usual interval is ${duration(lateCatalogue.usualMs)}.`,
            remedy: command('See how the last imports ended:', 'offerbook imports list --kind catalogue'),
          },
        ]),
    ...failedFeeds.map(({ kind, orgName, source: name, lastSuccessMs, lastOutcome, lastEndedMs }) => ({
      words: html`The last import of ${kind}${orgName === null ? undefined : html` for <bdi>${orgName}</bdi>`}${name === null ? undefined : html` from <bdi>${name}</bdi>`} was ${lastOutcome}, ${since(lastEndedMs, nowMs)}. Last success: ${since(lastSuccessMs, nowMs)}.`,
      remedy: command('See why:', `offerbook imports list --kind ${kind}`),
    })),
  ];
}
