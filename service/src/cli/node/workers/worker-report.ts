// The state and the counts of a worker, and how reports of several workers are merged.

import { CLICK_OUTCOMES, type ClickTally, newClickTally } from '../../../activation/click-tally.ts';
import { systemClock } from '../../../domain/clock.ts';
import type { DatabasePools, PoolUse, ReplicaState } from '../../../domain/stores.ts';
import { type CallerTallies, CallerTally } from '../../../http/caller-tally.ts';
import type { ClickState } from '../../../http/metrics.ts';
import { RequestTally, type RouteTallies } from '../../../http/request-tally.ts';
import type { SpanCounts } from '../../../tracing/otlp-exporter.ts';

export interface WorkerReport {
  readonly isDatabaseUsable: boolean;
  readonly replica: ReplicaState | undefined;
  readonly pools: DatabasePools | undefined;
  readonly routes: RouteTallies;
  readonly clicks: ClickState | undefined;
  readonly spans: SpanCounts | undefined;
  readonly callers: CallerTallies;
}

/** For a worker that has not reported yet. */
export const NO_REPORT: WorkerReport = {
  isDatabaseUsable: true,
  replica: undefined,
  pools: undefined,
  routes: new Map(),
  clicks: undefined,
  spans: undefined,
  callers: { organisations: new Map(), errors: new Map() },
};

/** The counts of a worker that has ended, without its state. */
export function countsOf({ routes, clicks, spans, callers }: WorkerReport): WorkerReport {
  return {
    ...NO_REPORT,
    routes,
    spans,
    callers,
    clicks: clicks && { ...clicks, isSpooling: false, isDiskLow: false },
  };
}

/** Adds up counts; for states, the worst one wins. */
export function mergeReports(reports: readonly WorkerReport[]): WorkerReport {
  const requests = new RequestTally();
  const calls = new CallerTally(systemClock);
  for (const { routes, callers } of reports) {
    requests.add(routes);
    calls.add(callers);
  }
  return {
    isDatabaseUsable: reports.every(({ isDatabaseUsable }) => isDatabaseUsable),
    replica: mergeReplicas(reports.flatMap(({ replica }) => replica ?? [])),
    pools: addPools(reports.flatMap(({ pools }) => pools ?? [])),
    routes: requests.routes,
    clicks: mergeClicks(reports.flatMap(({ clicks }) => clicks ?? [])),
    spans: addSpans(reports.flatMap(({ spans }) => spans ?? [])),
    callers: calls.tallies,
  };
}

function mergeReplicas(states: readonly ReplicaState[]): ReplicaState | undefined {
  if (states.length === 0) return undefined;
  return {
    isUsable: states.every(({ isUsable }) => isUsable),
    lagMs: Math.max(...states.map(({ lagMs }) => lagMs)),
  };
}

function addPools(pools: readonly DatabasePools[]): DatabasePools | undefined {
  if (pools.length === 0) return undefined;
  const add = (uses: readonly PoolUse[]): PoolUse => ({
    inUse: uses.reduce((sum, { inUse }) => sum + inUse, 0),
    waiting: uses.reduce((sum, { waiting }) => sum + waiting, 0),
    max: uses.reduce((sum, { max }) => sum + max, 0),
  });
  return { pages: add(pools.map(({ pages }) => pages)), other: add(pools.map(({ other }) => other)) };
}

function mergeClicks(states: readonly ClickState[]): ClickState | undefined {
  if (states.length === 0) return undefined;
  const sum: ClickTally = newClickTally();
  for (const { tally } of states) for (const outcome of CLICK_OUTCOMES) sum[outcome] += tally[outcome];
  return {
    tally: sum,
    isSpooling: states.some(({ isSpooling }) => isSpooling),
    isDiskLow: states.some(({ isDiskLow }) => isDiskLow),
    spooledCount: states.reduce((total, { spooledCount }) => total + spooledCount, 0),
  };
}

function addSpans(counts: readonly SpanCounts[]): SpanCounts | undefined {
  if (counts.length === 0) return undefined;
  return {
    sent: counts.reduce((sum, { sent }) => sum + sent, 0),
    dropped: counts.reduce((sum, { dropped }) => sum + dropped, 0),
  };
}
