// How a worker is doing and what it has counted, and the same of several workers together.

import { CLICK_OUTCOMES, type ClickTally, newClickTally } from '../../../activation/click-tally.ts';
import type { ReplicaState } from '../../../domain/stores.ts';
import type { ClickState } from '../../../http/metrics.ts';
import { RequestTally, type RouteTallies } from '../../../http/request-tally.ts';
import type { SpanCounts } from '../../../tracing/otlp-exporter.ts';

export interface WorkerReport {
  readonly isDatabaseUsable: boolean;
  readonly replica: ReplicaState | undefined;
  readonly routes: RouteTallies;
  readonly clicks: ClickState | undefined;
  readonly spans: SpanCounts | undefined;
}

/** Of a worker from which nothing has been heard. */
export const NO_REPORT: WorkerReport = {
  isDatabaseUsable: true,
  replica: undefined,
  routes: new Map(),
  clicks: undefined,
  spans: undefined,
};

/** What stays of the report of a worker that has ended: its counts. */
export function countsOf({ routes, clicks, spans }: WorkerReport): WorkerReport {
  return { ...NO_REPORT, routes, spans, clicks: clicks && { ...clicks, isSpooling: false } };
}

/** Counts are added up; of how the workers are doing, what is furthest from good. */
export function mergeReports(reports: readonly WorkerReport[]): WorkerReport {
  const requests = new RequestTally();
  for (const { routes } of reports) requests.add(routes);
  return {
    isDatabaseUsable: reports.every(({ isDatabaseUsable }) => isDatabaseUsable),
    replica: mergeReplicas(reports.flatMap(({ replica }) => replica ?? [])),
    routes: requests.routes,
    clicks: mergeClicks(reports.flatMap(({ clicks }) => clicks ?? [])),
    spans: addSpans(reports.map(({ spans }) => spans)),
  };
}

function mergeReplicas(states: readonly ReplicaState[]): ReplicaState | undefined {
  if (states.length === 0) return undefined;
  return {
    isUsable: states.every(({ isUsable }) => isUsable),
    lagMs: Math.max(...states.map(({ lagMs }) => lagMs)),
  };
}

function mergeClicks(states: readonly ClickState[]): ClickState | undefined {
  if (states.length === 0) return undefined;
  const sum: ClickTally = newClickTally();
  for (const { tally } of states) for (const outcome of CLICK_OUTCOMES) sum[outcome] += tally[outcome];
  return {
    tally: sum,
    isSpooling: states.some(({ isSpooling }) => isSpooling),
    spooledCount: states.reduce((total, { spooledCount }) => total + spooledCount, 0),
  };
}

/** Undefined when nobody has any. */
export function addSpans(counts: readonly (SpanCounts | undefined)[]): SpanCounts | undefined {
  const known = counts.filter((each) => each !== undefined);
  if (known.length === 0) return undefined;
  return {
    sent: known.reduce((sum, { sent }) => sum + sent, 0),
    dropped: known.reduce((sum, { dropped }) => sum + dropped, 0),
  };
}
