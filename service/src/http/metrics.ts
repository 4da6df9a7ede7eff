// Metrics in the Prometheus text format. Labels are routes, statuses and names that the operator chose, never client input.

import type { RecorderState } from '../activation/click-recorder.ts';
import type { ClickTally } from '../activation/click-tally.ts';
import type { CatalogueListName } from '../catalogue/list-view.ts';
import { COMMIT, VERSION } from '../domain/build.ts';
import type { ImportTotals } from '../domain/import-log.ts';
import { type PullState, REREAD, type SourceRequests } from '../domain/pull.ts';
import type { ClusterState, DatabasePools, PoolUse, ReplicaState } from '../domain/stores.ts';
import type { SenderReport, WebhookFigures } from '../domain/webhook.ts';
import { CHECK_STATES, type Check } from '../health/check.ts';
import type { DatabaseStatus } from '../health/facts.ts';
import type { SpanCounts } from '../tracing/otlp-exporter.ts';
import { countOpenFiles, findOpenFilesMax } from './open-files.ts';
import { BUCKETS_S, type ErrorTally, type OrganisationTally, type RequestTallies } from './request-tally.ts';

/** What serves requests reports, in the only thread or added up over all workers: its state and its counts. */
export interface ServingReport {
  readonly databaseStatus: DatabaseStatus;
  readonly requests: RequestTallies;
  readonly replica: ReplicaState | undefined;
  /** Undefined on SQLite. */
  readonly cluster: ClusterState | undefined;
  /** Undefined on SQLite. */
  readonly pools: DatabasePools | undefined;
  /** Undefined if activation is off. */
  readonly clicks: ClickState | undefined;
  /** Undefined if tracing is off. */
  readonly spans: SpanCounts | undefined;
}

export interface NodeState extends ServingReport {
  /** True if the node has loaded its data and is not shutting down. Load balancers send requests only to ready nodes. */
  readonly isReady: boolean;
  readonly catalogueRevision: number | undefined;
  /** Number of active items in each list; undefined before the catalogue is loaded. */
  readonly catalogueItems: Readonly<Record<CatalogueListName, number>> | undefined;
  /** Undefined until the first successful read. */
  readonly database: DatabaseFigures | undefined;
  /** Undefined if this node has never run the thread that sends webhooks. */
  readonly sender?: SenderReport | undefined;
  /** The verdicts of the health checks. */
  readonly checks: readonly Check[];
  readonly workers: {
    /** Workers that are serving requests now. */
    readonly ready: number;
    /** Workers started to replace others. */
    readonly restarts: number;
  };
}

export interface DatabaseFigures {
  readonly imports: ImportTotals;
  /** Live tokens that expire within 14 days. */
  readonly tokensExpiring: number;
  /** Undefined if there are no webhooks. */
  readonly webhooks?: WebhookFigures | undefined;
  /** The streams of all sources. */
  readonly pulls?: readonly PullState[] | undefined;
  readonly pullRequests?: readonly SourceRequests[] | undefined;
}

export interface ClickState extends RecorderState {
  readonly tally: ClickTally;
  /** True if a disk that stores clicks has less free space than the reserve. Clicks are then not written to that disk. */
  readonly isDiskLow: boolean;
}

/** To add a metric, add an entry here and a row in docs/operations/monitoring.md. */
const METRICS: Readonly<Record<string, Metric>> = {
  offerbook_http_requests_total: counter('Responses sent.', requestSamples),
  offerbook_http_request_duration_seconds: {
    type: 'histogram',
    help: 'Time from request to response.',
    read: durationSamples,
  },
  offerbook_http_errors_total: counter('Error responses, by code.', errorSamples),
  offerbook_organisation_requests_total: counter(
    "Requests with one of the organisation's tokens.",
    organisationSamples((tallies) => sum(tallies.map(({ requests }) => requests))),
  ),
  offerbook_organisation_errors_total: counter(
    "Error responses to requests with one of the organisation's tokens.",
    organisationSamples((tallies) => sum(tallies.map(({ errors }) => errors))),
  ),
  offerbook_organisation_last_poll_timestamp_seconds: gauge(
    'Time when the organisation last fetched a page of transactions.',
    organisationSamples((tallies) => {
      const polls = tallies.flatMap(({ lastPollAtMs }) => lastPollAtMs ?? []);
      return polls.length === 0 ? undefined : Math.max(...polls) / 1_000;
    }),
  ),
  offerbook_ready: gauge('1 if load balancers should send requests to this node.', ({ isReady }) => isReady),
  offerbook_database_usable: gauge(
    '1 if the database (the primary, if there are replicas) is usable.',
    ({ databaseStatus }) => databaseStatus.state === 'usable',
  ),
  offerbook_database_corrupt: gauge(
    '1 once the SQLite file was found corrupt, until the server is restarted.',
    ({ databaseStatus }) => databaseStatus.state === 'corrupt',
  ),
  offerbook_check: gauge('Health checks: 0 is ok, 1 a warning, 2 a fault.', ({ checks }) =>
    checks.map(({ check, state }) => ({ labels: { check }, value: CHECK_STATES.indexOf(state) })),
  ),
  offerbook_catalogue_revision: gauge(
    'Revision of the catalogue in memory.',
    ({ catalogueRevision }) => catalogueRevision ?? 0,
  ),
  offerbook_catalogue_items: gauge('Active items in each list.', ({ catalogueItems }) =>
    samplesBy('list', catalogueItems),
  ),
  offerbook_imports_total: counter('Imports, by outcome.', ({ database }) =>
    database?.imports.counts.map(({ kind, outcome, count: value }) => ({ labels: { kind, outcome }, value })),
  ),
  offerbook_import_last_success_timestamp_seconds: gauge(
    'Time when the last successful import of each feed ended.',
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
  offerbook_pull_complete_through_timestamp_seconds: gauge(
    'Time through which each stream of a network has been pulled.',
    ({ database }) =>
      database?.pulls?.flatMap((pull) =>
        // This stream cycles through old sales, so its position does not measure lag.
        pull.completeThroughMs === null || pull.stream === REREAD
          ? []
          : { labels: streamLabels(pull), value: pull.completeThroughMs / 1_000 },
      ),
  ),
  offerbook_pull_unsuccessful_since_timestamp_seconds: gauge(
    'Start of the first attempt to pull each stream since its last success; 0 after a success.',
    ({ database }) =>
      database?.pulls?.map((pull) => ({
        labels: streamLabels(pull),
        value: (pull.tryingSinceMs ?? 0) / 1_000,
      })),
  ),
  offerbook_pull_rows_total: counter('Rows pulled from networks, by result.', ({ database }) =>
    database?.pulls?.flatMap((pull) => samplesBy('result', pull.counts, streamLabels(pull)) ?? []),
  ),
  offerbook_pull_requests_total: counter('Requests to networks, by outcome.', ({ database }) =>
    database?.pullRequests?.flatMap(({ source, counts }) => samplesBy('outcome', counts, { source }) ?? []),
  ),
  offerbook_webhooks: gauge('Webhooks, by state.', ({ database }) =>
    samplesBy('state', database?.webhooks?.counts),
  ),
  offerbook_webhook_failing_seconds: gauge(
    'Duration of the longest current failure of a webhook.',
    ({ database }) => database?.webhooks && database.webhooks.failingMs / 1_000,
  ),
  offerbook_webhook_lag_seconds: gauge(
    'Longest time that a change has been waiting for a webhook.',
    ({ database }) => database?.webhooks && database.webhooks.behindMs / 1_000,
  ),
  offerbook_webhook_requests_total: counter(
    'Requests to webhook endpoints, by outcome.',
    ({ sender }) => sender && samplesBy('outcome', { delivered: sender.delivered, failed: sender.failed }),
  ),
  offerbook_database_connections_in_use: gauge('PostgreSQL connections in use.', poolSamples('inUse')),
  offerbook_database_connections_max: gauge('Maximum number of PostgreSQL connections.', poolSamples('max')),
  offerbook_database_waiting: gauge(
    'Statements and transactions waiting for a connection.',
    poolSamples('waiting'),
  ),
  offerbook_build_info: gauge('Version and commit of the program, and its Bun version.', () => [
    { labels: { version: VERSION, commit: COMMIT ?? 'unknown', bun: Bun.version }, value: 1 },
  ]),
  offerbook_database_rivals: gauge(
    'PostgreSQL servers that accept writes although another has replaced them.',
    ({ cluster }) => cluster?.rivals.length,
  ),
  offerbook_database_timeline: gauge(
    "The PostgreSQL primary's timeline, which increases with each failover.",
    ({ cluster }) => cluster?.timeline,
  ),
  offerbook_failover_unsettled: gauge(
    '1 if no server knows whether a failover lost changes.',
    ({ cluster }) => cluster?.isUnsettled,
  ),
  offerbook_failover_restamped_total: counter(
    'Transactions that got a new stamp because a failover lost changes.',
    ({ cluster }) => cluster?.restamped,
  ),
  offerbook_replica_usable: gauge(
    '1 if transactions are read from the replica.',
    ({ replica }) => replica?.isUsable,
  ),
  offerbook_replica_lag_seconds: gauge(
    'Replication lag of the replica.',
    ({ replica }) => replica && replica.lagMs / 1_000,
  ),
  offerbook_clicks_total: counter('Clicks, by outcome.', ({ clicks }) => samplesBy('outcome', clicks?.tally)),
  offerbook_clicks_spooled_total: counter(
    'Clicks written to the spool because the database did not accept them.',
    ({ clicks }) => clicks?.spooledCount,
  ),
  offerbook_clicks_spooling: gauge(
    '1 while clicks go to the spool.',
    ({ clicks }) => clicks && clicks.fate === 'spooled',
  ),
  offerbook_clicks_disk_low: gauge(
    '1 if a disk that stores clicks has less free space than the reserve.',
    ({ clicks }) => clicks?.isDiskLow,
  ),
  offerbook_workers_ready: gauge('Workers that serve requests.', ({ workers }) => workers.ready),
  offerbook_worker_restarts_total: counter('Workers that were replaced.', ({ workers }) => workers.restarts),
  offerbook_spans_total: counter('Spans, by outcome: accepted by the collector or dropped.', ({ spans }) =>
    samplesBy('outcome', spans),
  ),
  process_resident_memory_bytes: gauge('Resident memory.', () => process.memoryUsage.rss()),
  process_cpu_seconds_total: counter('CPU time used.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }),
  process_start_time_seconds: gauge('Start time of the process.', () => performance.timeOrigin / 1_000),
  process_open_fds: gauge('Open files and sockets.', countOpenFiles),
  process_max_fds: gauge('Maximum number of open files and sockets.', findOpenFilesMax),
};

interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly read: (state: NodeState) => Reading;
}

/** A plain value is a metric without labels. Undefined omits a metric that does not apply to this node. */
type Reading = number | boolean | readonly Sample[] | undefined;

interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Suffix of the name, for histograms. */
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

/** Organisation and source names can contain any characters except control characters. */
function escaped(text: string | number): string {
  return String(text).replaceAll(/[\\"]/g, '\\$&');
}

/** Combines tallies by name: a recreated organisation has a new id, but each series must appear only once. */
function organisationSamples(measure: (tallies: readonly OrganisationTally[]) => number | undefined) {
  return ({ requests }: NodeState): Sample[] =>
    [...Map.groupBy(requests.organisations.values(), ({ name }) => name)].flatMap(
      ([organisation, tallies]) => {
        const value = measure(tallies);
        return value === undefined ? [] : { labels: { organisation }, value };
      },
    );
}

/** Returns a sample for each count, with its name as the label; undefined if there are no counts. */
function samplesBy(
  label: string,
  counts: object | undefined,
  others: Sample['labels'] = {},
): Sample[] | undefined {
  return (
    counts && Object.entries(counts).map(([name, value]) => ({ labels: { ...others, [label]: name }, value }))
  );
}

function streamLabels({ source, stream, orgName }: PullState) {
  return { source, stream, organisation: orgName ?? '' };
}

function poolSamples(figure: keyof PoolUse) {
  return ({ pools }: NodeState): Sample[] | undefined =>
    pools && Object.entries(pools).map(([pool, use]) => ({ labels: { pool }, value: use[figure] }));
}

/** Sums errors over all organisations. The console lists them per organisation. */
function errorSamples({ requests }: NodeState): Sample[] {
  const groups = Map.groupBy(requests.errors.values(), ({ code, route }) => `${code} ${route}`);
  return [...groups.values()].flatMap((group) => {
    const [{ code, route }] = group as [ErrorTally];
    return { labels: { route, code }, value: sum(group.map(({ count }) => count)) };
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function requestSamples({ requests }: NodeState): Sample[] {
  return [...requests.routes].flatMap(([route, { statuses }]) =>
    [...statuses].map(([status, value]) => ({ labels: { route, status }, value })),
  );
}

/** Prometheus histogram buckets are cumulative. */
function durationSamples({ requests }: NodeState): Sample[] {
  return [...requests.routes].flatMap(([route, { buckets, seconds }]) => {
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
