// What a monitoring system sees, in the text format of Prometheus. Labels are our own words, such as routes and
// statuses, and the names that the operator gave to organisations, never anything that a caller sent.

import type { RecorderState } from '../activation/click-recorder.ts';
import type { ClickTally } from '../activation/click-tally.ts';
import type { CatalogueListName } from '../catalogue/catalogue.ts';
import { COMMIT, VERSION } from '../domain/build.ts';
import type { ImportTotals } from '../domain/import-log.ts';
import type { DatabasePools, PoolUse, ReplicaState } from '../domain/stores.ts';
import type { SpanCounts } from '../tracing/otlp-exporter.ts';
import type { CallerTallies, ErrorTally, OrganisationTally } from './caller-tally.ts';
import { countOpenFiles, findOpenFilesMax } from './open-files.ts';
import type { Health } from './readiness.ts';
import { BUCKETS_S, type RouteTallies } from './request-tally.ts';

/** Of the whole node, over all of its workers. */
export interface NodeState extends Health {
  readonly routes: RouteTallies;
  readonly callers: CallerTallies;
  readonly catalogueRevision: number | undefined;
  /** How many items each list has now; undefined while there is no catalogue. */
  readonly catalogueItems: Readonly<Record<CatalogueListName, number>> | undefined;
  /** Undefined when the database could not be asked yet. */
  readonly database: DatabaseFigures | undefined;
  readonly replica: ReplicaState | undefined;
  /** Undefined on SQLite. */
  readonly pools: DatabasePools | undefined;
  /** Undefined when activation is turned off. */
  readonly clicks: ClickState | undefined;
  /** Undefined when nothing is traced. */
  readonly spans?: SpanCounts | undefined;
  readonly workers: {
    /** How many answer requests now. */
    readonly ready: number;
    /** How many have been started in the place of another. */
    readonly restarts: number;
  };
}

export interface DatabaseFigures {
  readonly imports: ImportTotals;
  /** Live tokens that expire within 14 days. */
  readonly tokensExpiring: number;
}

export interface ClickState extends RecorderState {
  readonly tally: ClickTally;
  readonly isDiskLow: boolean;
}

/** Adding a metric is a line here, and one in docs/operations/monitoring.md. */
const METRICS: Readonly<Record<string, Metric>> = {
  offerbook_http_requests_total: counter('Requests answered.', requestSamples),
  offerbook_http_request_duration_seconds: {
    type: 'histogram',
    help: 'How long answers took.',
    read: durationSamples,
  },
  offerbook_http_errors_total: counter('Errors answered, by code.', errorSamples),
  offerbook_organisation_requests_total: counter(
    'Requests with a token of the organisation.',
    organisationSamples((tallies) => sum(tallies.map(({ requests }) => requests))),
  ),
  offerbook_organisation_errors_total: counter(
    'Those of them that were answered with an error.',
    organisationSamples((tallies) => sum(tallies.map(({ errors }) => errors))),
  ),
  offerbook_organisation_last_poll_timestamp_seconds: gauge(
    'When the organisation last got a page of transactions.',
    organisationSamples((tallies) => {
      const polls = tallies.flatMap(({ lastPollAtMs }) => lastPollAtMs ?? []);
      return polls.length === 0 ? undefined : Math.max(...polls) / 1_000;
    }),
  ),
  offerbook_ready: gauge('Whether this node should get requests.', ({ isReady }) => isReady),
  offerbook_database_usable: gauge(
    'Whether the database, the primary if it has replicas, can be used.',
    ({ isDatabaseUsable }) => isDatabaseUsable,
  ),
  offerbook_catalogue_revision: gauge(
    'The revision of the catalogue that is served.',
    ({ catalogueRevision }) => catalogueRevision ?? 0,
  ),
  offerbook_catalogue_items: gauge(
    'Items that each list has now.',
    ({ catalogueItems }) =>
      catalogueItems && Object.entries(catalogueItems).map(([list, value]) => ({ labels: { list }, value })),
  ),
  offerbook_imports_total: counter('Imports, by how they ended.', ({ database }) =>
    database?.imports.counts.map(({ kind, outcome, count: value }) => ({ labels: { kind, outcome }, value })),
  ),
  offerbook_import_last_success_timestamp_seconds: gauge(
    'When the last successful import of each feed ended.',
    ({ database }) =>
      database?.imports.feeds.flatMap(({ kind, orgName, source, lastSuccessMs }) =>
        lastSuccessMs === null
          ? []
          : {
              labels: { kind, organisation: orgName ?? '', source: source ?? '' },
              value: lastSuccessMs / 1_000,
            },
      ),
  ),
  offerbook_tokens_expiring: gauge(
    'Tokens that expire within 14 days.',
    ({ database }) => database?.tokensExpiring,
  ),
  offerbook_database_connections_in_use: gauge(
    'Connections to PostgreSQL with work on them.',
    poolSamples(({ inUse }) => inUse),
  ),
  offerbook_database_connections_max: gauge(
    'Connections to PostgreSQL that there can be.',
    poolSamples(({ max }) => max),
  ),
  offerbook_database_waiting: gauge(
    'Statements and transactions that wait for a connection.',
    poolSamples(({ waiting }) => waiting),
  ),
  offerbook_build_info: gauge('What is running.', () => [
    { labels: { version: VERSION, commit: COMMIT ?? 'unknown', bun: Bun.version }, value: 1 },
  ]),
  offerbook_replica_usable: gauge(
    'Whether pages of transactions are read from the replica.',
    ({ replica }) => replica?.isUsable,
  ),
  offerbook_replica_lag_seconds: gauge(
    'How far the replica is behind the primary.',
    ({ replica }) => replica && replica.lagMs / 1_000,
  ),
  offerbook_clicks_total: counter(
    'Clicks, by what became of them.',
    ({ clicks }) =>
      clicks && Object.entries(clicks.tally).map(([outcome, value]) => ({ labels: { outcome }, value })),
  ),
  offerbook_clicks_spooled_total: counter(
    'Clicks that went to the spool, because the database did not take them.',
    ({ clicks }) => clicks?.spooledCount,
  ),
  offerbook_clicks_spooling: gauge('Whether clicks go to the spool now.', ({ clicks }) => clicks?.isSpooling),
  offerbook_clicks_disk_low: gauge(
    'Whether a disk for clicks has less free space than the reserve.',
    ({ clicks }) => clicks?.isDiskLow,
  ),
  offerbook_workers_ready: gauge('Workers that answer requests.', ({ workers }) => workers.ready),
  offerbook_worker_restarts_total: counter('Workers that were replaced.', ({ workers }) => workers.restarts),
  offerbook_spans_total: counter(
    'Spans of traces, by whether the collector took them.',
    ({ spans }) => spans && Object.entries(spans).map(([outcome, value]) => ({ labels: { outcome }, value })),
  ),
  process_resident_memory_bytes: gauge('Resident memory.', () => process.memoryUsage.rss()),
  process_cpu_seconds_total: counter('Processor time used.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }),
  process_start_time_seconds: gauge('When the process started.', () => performance.timeOrigin / 1_000),
  process_open_fds: gauge('Open files and sockets.', countOpenFiles),
  process_max_fds: gauge('Files and sockets that may be open.', findOpenFilesMax),
};

interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly read: (state: NodeState) => Reading;
}

/** A metric without labels has one value. Undefined: the metric means nothing for this node, and is left out. */
type Reading = number | boolean | readonly Sample[] | undefined;

interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Of the name, as histograms have them. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
}

export function metricsPage(state: NodeState): Response {
  const families = Object.entries(METRICS).map(([name, metric]) => print(name, metric, metric.read(state)));
  return new Response(families.join(''), {
    headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' },
  });
}

function print(name: string, { type, help }: Metric, reading: Reading): string {
  if (reading === undefined) return '';
  const samples = typeof reading === 'object' ? reading : [{ labels: {}, value: Number(reading) }];
  const lines = samples.map(({ labels, value, suffix = '' }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join()}}`} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

/** The names of organisations and sources are the operator's words, and may contain anything but control characters. */
function escaped(text: string | number): string {
  return String(text).replaceAll(/[\\"]/g, '\\$&');
}

/**
 * By name: one that was deleted and made again is another organisation of the same name, and a series may be in a page only
 * once. Counts are added up, so that they do not fall.
 */
function organisationSamples(measure: (tallies: readonly OrganisationTally[]) => number | undefined) {
  return ({ callers }: NodeState): Sample[] =>
    [...Map.groupBy(callers.organisations.values(), ({ name }) => name)].flatMap(
      ([organisation, tallies]) => {
        const value = measure(tallies);
        return value === undefined ? [] : { labels: { organisation }, value };
      },
    );
}

function poolSamples(measure: (use: PoolUse) => number) {
  return ({ pools }: NodeState): Sample[] | undefined =>
    pools && Object.entries(pools).map(([pool, use]) => ({ labels: { pool }, value: measure(use) }));
}

/** Over all organisations: the console has them apart. */
function errorSamples({ callers }: NodeState): Sample[] {
  const groups = Map.groupBy(callers.errors.values(), ({ code, route }) => `${code} ${route}`);
  return [...groups.values()].flatMap((group) => {
    const [{ code, route }] = group as [ErrorTally];
    return { labels: { route, code }, value: sum(group.map(({ count }) => count)) };
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function requestSamples({ routes }: NodeState): Sample[] {
  return [...routes].flatMap(([route, { statuses }]) =>
    [...statuses].map(([status, value]) => ({ labels: { route, status }, value })),
  );
}

/** A bucket of a histogram counts everything up to its bound. */
function durationSamples({ routes }: NodeState): Sample[] {
  return [...routes].flatMap(([route, { buckets, seconds }]) => {
    let count = 0;
    const samples: Sample[] = buckets.map((inBucket, i) => {
      count += inBucket;
      return { labels: { route, le: BUCKETS_S[i] ?? '+Inf' }, value: count, suffix: '_bucket' };
    });
    samples.push({ labels: { route }, value: seconds, suffix: '_sum' });
    samples.push({ labels: { route }, value: count, suffix: '_count' });
    return samples;
  });
}

function gauge(help: string, read: Metric['read']): Metric {
  return { type: 'gauge', help, read };
}

function counter(help: string, read: Metric['read']): Metric {
  return { type: 'counter', help, read };
}
