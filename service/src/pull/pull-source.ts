// Pulls one source: reads every stream of sales window by window and imports each window, then reads the catalogue.

import { DAY_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { holdLease } from './held-lease.ts';
import { type PullableSource, sourceName } from './network-client.ts';
import { isTooMuch } from './network-failures.ts';
import { catalogueKey, isCatalogueDue, pullCatalogue } from './pull-catalogue.ts';
import { rereadSales } from './reread-sales.ts';
import { convertDue, pullWindow } from './sale-windows.ts';
import {
  openSourceRun,
  type PullContext,
  type PullOptions,
  type SourceRun,
  type StreamReport,
} from './source-run.ts';
import { lostMs, StreamProgress } from './windows.ts';

/**
 * Throws Refused if another process is pulling from this source, or after an unexpected error, and StorageError. Other failures
 * are in the report.
 */
export async function pullSource(
  pullable: PullableSource,
  options: PullOptions,
  context: PullContext,
): Promise<StreamReport[]> {
  const name = sourceName(pullable.source);
  await using held = await holdLease(context.stores.leases, name, options.by, context.leaseTimings);
  const run = await openSourceRun(pullable, options, context, held.lease);
  try {
    return await pullStreams(run);
  } catch (error) {
    throw await run.explainUnexpected(error);
  }
}

async function pullStreams(run: SourceRun): Promise<StreamReport[]> {
  const { options, context } = run;
  const { only } = options;
  const streams = only === 'catalogue' ? [] : await openStreams(run);
  const hasCatalogue = only === 'catalogue' || (only === undefined && (await isCatalogueDue(run)));
  const due = streams.filter((stream) => stream.next(options, context.clock()) !== undefined);
  await run.noteAttempt([...due.map(({ key }) => key), ...(hasCatalogue ? [catalogueKey(run)] : [])]);
  const reports: StreamReport[] = [];
  if (only !== 'catalogue') reports.push(...(await pullSales(run, streams)));
  if (hasCatalogue) reports.push(await pullCatalogue(run));
  return reports;
}

function openStreams(run: SourceRun): Promise<StreamProgress[]> {
  return Promise.all(
    run.pullable.pull.streams.map(async (rules) => {
      const key = run.key(rules.name);
      const state = await run.context.stores.pulls.find(key);
      return new StreamProgress(rules, key, state?.completeThroughMs ?? undefined);
    }),
  );
}

async function pullSales(run: SourceRun, streams: readonly StreamProgress[]): Promise<StreamReport[]> {
  for (const stream of streams) {
    try {
      await pullStream(run, stream);
    } catch (error) {
      stream.failure = await run.explain(error, stream.key);
    }
  }
  await convertDue(run);
  const reports = streams.map(({ report }) => report);
  if (reports.every(({ error }) => error === null)) {
    const corrected = await rereadSales(run, reports);
    if (corrected !== undefined) reports.push(corrected);
  }
  return reports;
}

async function pullStream(run: SourceRun, stream: StreamProgress): Promise<void> {
  const { rules } = stream;
  // Read the clock once. Otherwise, each window would be followed by another, for the few seconds that have passed in the
  // meantime.
  const nowMs = run.context.clock();
  const lost = lostMs(rules, stream.completeThroughMs, nowMs);
  if (lost > 0) {
    run.note(
      rules.name,
      `the network may no longer list what changed in the ${Math.ceil(lost / DAY_MS)} days after ${printTimestamp(stream.completeThroughMs ?? 0)}; sales may be missing`,
    );
  }
  for (let window = stream.next(run.options, nowMs); window !== undefined; ) {
    try {
      stream.add(window, await pullWindow(run, stream, window));
    } catch (error) {
      if (!isTooMuch(error) || !stream.halve(window)) throw error;
    }
    window = stream.next(run.options, nowMs);
  }
}
