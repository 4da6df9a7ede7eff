// Pulls one source: reads every stream of sales window by window and imports each window, then reads the catalogue.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { ClickIds } from '../activation/click-id.ts';
import { holdLease } from './held-lease.ts';
import { RequestFailed, SourceStopped } from './network-client.ts';
import { isCatalogueDue, pullCatalogue } from './pull-catalogue.ts';
import { rereadSales } from './reread-sales.ts';
import { SaleWindows } from './sale-windows.ts';
import {
  type PullableSource,
  type PullContext,
  type PullOptions,
  SourceRun,
  type StreamReport,
  sourceName,
} from './source-run.ts';
import { StreamProgress } from './stream-progress.ts';
import { lostMs, nextWindow } from './windows.ts';

const DAY_MS = 86_400_000;

/** Throws Refused if another process is pulling from this source. Other failures are in the report. */
export async function pullSource(
  pullable: PullableSource,
  options: PullOptions,
  context: PullContext,
): Promise<StreamReport[]> {
  const { stores } = context;
  const name = sourceName(pullable.source);
  await using held = await holdLease(stores.leases, name, options.by, context.leaseTimings);
  const run = new SourceRun(pullable, options, context, held.lease);
  const { only } = options;
  const reports: StreamReport[] = [];
  if (only !== 'catalogue') {
    const windows = new SaleWindows(run, new ClickIds(await stores.clickKey()));
    reports.push(...(await pullSales(run, windows)));
  }
  if (only === 'catalogue' || (only === undefined && (await isCatalogueDue(run))))
    reports.push(await pullCatalogue(run));
  return reports;
}

async function pullSales(run: SourceRun, windows: SaleWindows): Promise<StreamReport[]> {
  const reports: StreamReport[] = [];
  let stopped: string | undefined;
  for (const rules of run.pullable.pull.streams) {
    const stream = new StreamProgress(rules, run.key(rules.name));
    try {
      if (stopped === undefined) await pullStream(run, windows, stream);
      else stream.error = stopped;
    } catch (error) {
      stream.error = await run.explain(error, stream.key);
      if (error instanceof SourceStopped) stopped = stream.error;
    }
    reports.push(stream.report);
  }
  if (stopped === undefined) await windows.convertDue();
  if (reports.every(({ error }) => error === null)) {
    const corrected = await rereadSales(run, windows, reports);
    if (corrected !== undefined) reports.push(corrected);
  }
  return reports;
}

async function pullStream(run: SourceRun, windows: SaleWindows, stream: StreamProgress): Promise<void> {
  const { options, context } = run;
  const { sinceMs, startMs } = options;
  const { rules, key } = stream;
  // Read the clock once. Otherwise, each window would be followed by another, for the few seconds that have passed in the
  // meantime.
  const nowMs = context.clock();
  const state = await context.stores.pulls.find(key);
  stream.completeThroughMs = state?.completeThroughMs ?? undefined;
  const lost = lostMs(rules, stream.completeThroughMs, nowMs);
  if (lost > 0) {
    run.note(
      rules.name,
      `the network may no longer list what changed in the ${Math.ceil(lost / DAY_MS)} days after ${printTimestamp(stream.completeThroughMs ?? 0)}; sales may be missing`,
    );
  }
  let atMs = sinceMs === undefined ? stream.completeThroughMs : undefined;
  let widthMs = rules.windowMs;
  for (;;) {
    const window = nextWindow(rules, atMs, { startMs: sinceMs ?? startMs, nowMs, widthMs });
    if (window === undefined) return;
    try {
      const counts = await windows.pull(stream, window);
      atMs = window.toMs;
      stream.add(window, counts);
    } catch (error) {
      const half = rules.windowMs / 2;
      const isHalvable = widthMs > half && window.toMs - window.fromMs > half && half > rules.overlapMs;
      // A network may fail because a window has too many sales.
      if (!(error instanceof RequestFailed) || !isHalvable) throw error;
      widthMs = half;
    }
  }
}
