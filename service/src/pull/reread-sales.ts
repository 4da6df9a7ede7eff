// Reads one window of old sales again, to find changes that the streams did not list. A difference alone proves nothing: the
// sale may have changed a minute ago. A difference counts if the streams have since read past the time at which it was found, and
// it is still there.

import { printCountOf } from '@offerbook/wire/count.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import { isTooMuch } from './network-failures.ts';
import { pullWindow } from './sale-windows.ts';
import type { SourceRun, StreamReport } from './source-run.ts';
import { nextReread, StreamProgress } from './windows.ts';

/** Bounds the stored list of differences. */
const SUSPECTS_MAX = 10_000;

/** `reports` has one entry for each of the source's streams. Returns a report if old sales had to be corrected. */
export async function rereadSales(
  run: SourceRun,
  reports: readonly StreamReport[],
): Promise<StreamReport | undefined> {
  const { pullable, options, context } = run;
  const { pulls } = context.stores;
  const rules = pullable.pull.reread;
  if (rules === undefined || options.dryRun === true || options.sinceMs !== undefined) return undefined;
  const stream = new StreamProgress(rules, run.key(rules.name));
  const state = await pulls.find(stream.key);
  const atMs = state?.completeThroughMs ?? null;
  const suspects = new Set<string>(state?.suspects);
  const passedMs = Math.min(...reports.map(({ completeThroughMs }) => completeThroughMs ?? 0));
  if (suspects.size > 0 && passedMs < (state?.suspectedAtMs ?? 0)) return undefined;
  await run.noteAttempt([stream.key]);
  const window = nextReread(rules, atMs, context.clock());
  const differing: string[] = [];
  const onChange = (id: string) => differing.push(id);
  try {
    if (suspects.size === 0) {
      await pullWindow(run, stream, window, { isTrial: true, onChange });
      const isSame = differing.length === 0;
      await pulls.noteReread(stream.key, {
        completeThroughMs: isSame ? window.toMs : atMs,
        suspects: differing.slice(0, SUSPECTS_MAX),
      });
      return undefined;
    }
    stream.add(window, await pullWindow(run, stream, window, { onChange }));
    const leaked = differing.filter((id) => suspects.has(id)).length;
    if (leaked === 0) return undefined;
    run.note(
      rules.name,
      `${printCountOf(leaked, 'sale')} had changed, but the network did not list the change; the stored sales have been corrected`,
    );
    return stream.report;
  } catch (error) {
    // An old invalid row, or a window with too many sales, must not keep later sales from being read again.
    if (error instanceof BadInput || isTooMuch(error)) {
      await pulls.noteReread(stream.key, { completeThroughMs: window.toMs, suspects: [] });
    }
    run.note(rules.name, (await run.explain(error, stream.key)).error);
    return undefined;
  }
}
