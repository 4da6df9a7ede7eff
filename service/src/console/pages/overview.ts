// Is it up, is it fast, and what is about to break?

import { statfsSync } from 'node:fs';
import { type Html, html } from '@offerbook/site/html.ts';
import { isExpiring } from '../../domain/access-token.ts';
import type { ImportEntry } from '../../domain/books.ts';
import { isStorageError } from '../../domain/storage-error.ts';
import type { ConsoleStores, MakePage, NodeView, PageContext } from '../console-page.ts';
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
} from '../elements.ts';

/** Below this share of a disk, or this many bytes, it is about to be full. */
const DISK_MIN_SHARE = 0.1;
const DISK_MIN_BYTES = 1e9;
/** By how many of the latest imports it is told how often they usually come, and when one is late. */
const USUAL_IMPORTS = 20;
const LATE_FACTOR = 3;

/** Something that will break, or has, and what helps. */
interface Warning {
  readonly words: Html;
  readonly remedy: Html;
}

export const overviewPage: MakePage = async (context) => {
  const { node } = context;
  const warnings = await findWarnings(context);
  return {
    title: 'Overview',
    main: html`${section('What needs attention', warningList(warnings))}
${section('Requests', requestFacts(node), requestPlot(node), routeTable(node))}
${section('Node', nodeFacts(context))}`,
  };
};

function warningList(warnings: readonly Warning[]): Html {
  if (warnings.length === 0)
    return html`<p class="all-well">${tag('all well', 'good')} No problems found.</p>`;
  return html`<ul class="warnings">${warnings.map(({ words, remedy }) => html`<li><p>${words}</p>${remedy}</li>`)}</ul>`;
}

function requestFacts({ hour, startedAtMs }: NodeView): Html {
  const seconds = Math.max(1, (hour.untilMs - hour.fromMs) / 1_000);
  const { requests, refused, failed } = hour.all;
  const span = hour.fromMs === startedAtMs ? 'since the start' : 'in the last hour';
  return html`${facts([
    [`Requests ${span}`, number(requests)],
    ['Requests per second', decimal(requests / seconds, 2)],
    ['Refused (4xx)', share(refused, requests)],
    ['Failed (5xx)', share(failed, requests)],
  ])}${source('offerbook_http_requests_total', 'offerbook_http_request_duration_seconds')}
<p class="source">Kept in memory, minute by minute, over all workers of this node: ${duration(hour.untilMs - hour.fromMs)} now.</p>`;
}

function requestPlot({ hour }: NodeView): Html {
  // The last one is not over yet, and would look like a fall.
  const whole = hour.minutes.length > 1 ? hour.minutes.slice(0, -1) : hour.minutes;
  const rows = whole.map((one) => [
    minute(one.fromMs),
    number(one.requests),
    number(one.refused),
    number(one.failed),
  ]);
  return plot('lines', 'Requests by minute', ['From (UTC)', 'Requests', 'Refused', 'Failed'], rows);
}

function routeTable({ hour }: NodeView): Html {
  const rows = hour.routes.map(({ route, requests, refused, failed, p50Ms, p99Ms }) => [
    html`<code>${route}</code>`,
    number(requests),
    share(refused, requests),
    share(failed, requests),
    milliseconds(p50Ms),
    milliseconds(p99Ms),
  ]);
  const headings = ['Operation', 'Requests', 'Refused', 'Failed', 'p50', 'p99'];
  return table('By operation, in the same time', headings, rows, 'No requests yet.');
}

function nodeFacts({ node, folder }: PageContext): Html {
  const { state, workers, startedAtMs, nowMs } = node;
  const replica = state.replica;
  const disk = diskOf(folder);
  return html`${facts([
    ['Up since', since(startedAtMs, nowMs)],
    ['Ready', state.isReady ? tag('ready', 'good') : tag('not ready', 'bad')],
    ['Database', state.isDatabaseUsable ? tag('usable', 'good') : tag('unusable', 'bad')],
    ['Replica', replica === undefined ? 'none' : replicaWords(replica.isUsable, replica.lagMs)],
    ['Workers ready', html`${number(state.workers.ready)} of ${number(workers)}`],
    ['Workers replaced', number(state.workers.restarts)],
    ['Catalogue revision', state.catalogueRevision === undefined ? 'none' : number(state.catalogueRevision)],
    ['Disk free', disk === undefined ? 'not known' : `${bytes(disk.free)} of ${bytes(disk.size)}`],
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

function replicaWords(isUsable: boolean, lagMs: number): Html {
  return html`${isUsable ? tag('in use', 'good') : tag('not used', 'bad')} ${duration(lagMs)} behind`;
}

async function findWarnings(context: PageContext): Promise<Warning[]> {
  const { node, folder } = context;
  const { state } = node;
  const found: Warning[] = [];
  const warn = (words: Html, remedy: Html = html``) => found.push({ words, remedy });
  if (!state.isReady) warn(html`The node is not ready: requests should not come here.`);
  if (state.workers.ready < node.workers && state.isReady)
    warn(html`${number(node.workers - state.workers.ready)} of the workers do not answer. The log says why.`);
  if (state.replica?.isUsable === false)
    warn(html`The replica is not used: pages are read from the primary. The log says why.`);
  if (state.areClicksSpooled) warn(html`Clicks go to the spool, because the database takes none.`);
  if (state.isClickDiskLow)
    warn(
      html`A disk for clicks has less free space than <code>--disk-reserve</code>: no clicks are written there. Make room on it.`,
    );
  const disk = diskOf(folder);
  if (disk !== undefined && (disk.free < DISK_MIN_BYTES || disk.free < DISK_MIN_SHARE * disk.size))
    warn(
      html`The disk of <code>${folder}</code> is nearly full: ${bytes(disk.free)} are free. Make room on it: writes fail when it is full. A purge makes room inside an SQLite file, for later rows, and none on the disk.`,
    );
  try {
    found.push(...(await databaseWarnings(await context.stores(), node.nowMs)));
  } catch (error) {
    if (!isStorageError(error)) throw error;
    warn(html`The database does not answer: ${error.message}. The catalogue goes on from memory.`);
  }
  return found;
}

async function databaseWarnings(stores: ConsoleStores, nowMs: number): Promise<Warning[]> {
  const { tokens } = await stores.tokens.list();
  const expiring = tokens.filter((token) => isExpiring(token, nowMs));
  const late = lateCatalogue(
    await stores.imports.list({ kind: 'catalogue', outcome: 'done', limit: USUAL_IMPORTS }),
    nowMs,
  );
  const { feeds } = await stores.imports.totals();
  return [
    ...expiring.map(({ id, kind, orgName, expiresAtMs }) => ({
      words: html`A ${kind} token of <bdi>${orgName}</bdi> ends ${since(expiresAtMs, nowMs)}.`,
      remedy: command('Issue a successor; both are good for a day:', `offerbook tokens rotate ${id}`),
    })),
    ...(late === undefined
      ? []
      : [
          {
            words: html`The catalogue is older than usual: it was imported ${since(late.lastMs, nowMs)}, and usually is every ${duration(late.usualMs)}.`,
            remedy: command('See how the last imports ended:', 'offerbook imports list --kind catalogue'),
          },
        ]),
    ...feeds
      .filter(({ lastOutcome }) => lastOutcome !== 'done')
      .map(({ kind, orgName, source: name, lastSuccessMs, lastOutcome, lastEndedMs }) => ({
        words: html`The last import of ${kind}${orgName === null ? undefined : html` of <bdi>${orgName}</bdi>`}${name === null ? undefined : html` from <bdi>${name}</bdi>`} was ${lastOutcome}, ${since(lastEndedMs, nowMs)}. The last success: ${since(lastSuccessMs, nowMs)}.`,
        remedy: command('See why:', `offerbook imports list --kind ${kind}`),
      })),
  ];
}

/** Undefined while the next one is not late, or nobody can tell how often they come. */
function lateCatalogue(
  newestFirst: readonly ImportEntry[],
  nowMs: number,
): { readonly lastMs: number; readonly usualMs: number } | undefined {
  const times = newestFirst.map(({ beganAtMs }) => beganAtMs);
  const [lastMs] = times;
  const pauses = times
    .slice(1)
    .map((ms, i) => (times[i] ?? ms) - ms)
    .toSorted((a, b) => a - b);
  const usualMs = pauses[Math.floor(pauses.length / 2)];
  if (lastMs === undefined || usualMs === undefined || pauses.length < 3) return undefined;
  return nowMs - lastMs > LATE_FACTOR * usualMs ? { lastMs, usualMs } : undefined;
}

function diskOf(folder: string): { readonly free: number; readonly size: number } | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    return { free: bavail * bsize, size: blocks * bsize };
  } catch {
    return undefined;
  }
}
