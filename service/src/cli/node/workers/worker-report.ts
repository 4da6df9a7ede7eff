// Merges the reports of workers.

import type { ClickFate } from '../../../domain/click.ts';
import { systemClock } from '../../../domain/clock.ts';
import type { ClusterState, DatabasePools, ReplicaState } from '../../../domain/stores.ts';
import type { DatabaseStatus } from '../../../health/facts.ts';
import type { ClickState, ServingReport } from '../../../http/metrics.ts';
import { requestTally } from '../../../http/request-tally.ts';

/** Drops the state of a worker that has ended, and keeps its counts. */
export function countsOf({ requests, clicks, spans, cluster }: ServingReport): ServingReport {
  return {
    ...NO_REPORT,
    requests,
    spans,
    cluster: cluster && { ...cluster, rivals: [], isUnsettled: false },
    clicks: clicks && { ...clicks, fate: 'recorded', isDiskLow: false },
  };
}

/** Adds up counts, and takes the worst value of each state. */
export function mergeReports(reports: readonly ServingReport[]): ServingReport {
  const tally = requestTally(systemClock);
  for (const { requests } of reports) tally.add(requests);
  return {
    databaseStatus: mergeStatuses(reports.map(({ databaseStatus }) => databaseStatus)),
    replica: mergeReplicas(reports.flatMap(({ replica }) => replica ?? [])),
    cluster: mergeClusters(reports.flatMap(({ cluster }) => cluster ?? [])),
    pools: mergePools(reports.flatMap(({ pools }) => pools ?? [])),
    requests: tally.tallies,
    clicks: mergeClicks(reports.flatMap(({ clicks }) => clicks ?? [])),
    spans: addUp(reports.flatMap(({ spans }) => spans ?? [])),
  };
}

/** Initial value, before a worker's first report. */
export const NO_REPORT = mergeReports([]);

function mergeStatuses(all: readonly DatabaseStatus[]): DatabaseStatus {
  const inState = (wanted: DatabaseStatus['state']) => all.find(({ state }) => state === wanted);
  return inState('corrupt') ?? inState('unreachable') ?? { state: 'usable' };
}

function mergeReplicas(states: readonly ReplicaState[]): ReplicaState | undefined {
  if (states.length === 0) return undefined;
  const unusable = states.find(({ isUsable }) => !isUsable);
  return { ...(unusable ?? { isUsable: true }), lagMs: Math.max(...states.map(({ lagMs }) => lagMs)) };
}

function mergeClusters(states: readonly ClusterState[]): ClusterState | undefined {
  if (states.length === 0) return undefined;
  const timelines = states.flatMap(({ timeline }) => timeline ?? []);
  return {
    rivals: [...new Set(states.flatMap(({ rivals }) => rivals))],
    timeline: timelines.length === 0 ? undefined : Math.max(...timelines),
    isUnsettled: states.some(({ isUnsettled }) => isUnsettled),
    restamped: states.reduce((sum, { restamped }) => sum + restamped, 0),
  };
}

function mergePools(all: readonly DatabasePools[]): DatabasePools | undefined {
  const pages = addUp(all.map((pools) => pools.pages));
  const other = addUp(all.map((pools) => pools.other));
  return pages && other && { pages, other };
}

/** Worst first. */
const FATES: readonly ClickFate[] = ['lost', 'spooled'];

function mergeClicks(states: readonly ClickState[]): ClickState | undefined {
  const tally = addUp(states.map((state) => state.tally));
  return (
    tally && {
      tally,
      fate: FATES.find((fate) => states.some((state) => state.fate === fate)) ?? 'recorded',
      isDiskLow: states.some(({ isDiskLow }) => isDiskLow),
      spooledCount: states.reduce((total, { spooledCount }) => total + spooledCount, 0),
    }
  );
}

/** Adds up each field; undefined for an empty list. */
function addUp<Counts extends Readonly<Record<keyof Counts, number>>>(
  all: readonly Counts[],
): Counts | undefined {
  const [first] = all;
  if (first === undefined) return undefined;
  const fields = Object.keys(first) as (keyof Counts)[];
  const sums = fields.map((field) => [field, all.reduce((sum, counts) => sum + counts[field], 0)]);
  return Object.fromEntries(sums);
}
