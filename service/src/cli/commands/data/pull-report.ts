// What a pull prints: progress while it reads, and the result of each stream.

import { printCount, printCountOf } from '@offerbook/wire/count.ts';
import type { Clock } from '../../../domain/clock.ts';
import { CATALOGUE } from '../../../domain/pull.ts';
import type { StreamReport } from '../../../pull/source-run.ts';
import { printTime } from '../../output.ts';

const LINE_EVERY_MS = 60_000;

/**
 * Shows the rows of all sources together. Also prints lines for a log file: for each source at most one a minute, and none in the
 * first minute.
 */
export function pullProgress(show: (rows: number) => void, print: (line: string) => void, clock: Clock) {
  const rows = new Map<string, number>();
  return (source: string) => {
    let printedMs = clock();
    return (count: number, what: string) => {
      rows.set(source, count);
      show(rows.values().reduce((sum, value) => sum + value, 0));
      if (clock() - printedMs < LINE_EVERY_MS) return;
      printedMs = clock();
      print(`${source}, ${what}: ${printCountOf(count, 'row')} read`);
    };
  };
}

export function printReport(
  { source, stream, windows, completeThroughMs, counts, error }: StreamReport,
  isDryRun: boolean,
): string {
  const through =
    completeThroughMs === null ? 'nothing read yet' : `complete through ${printTime(completeThroughMs)}`;
  const { added, changed, unchanged, withdrawn, invalid } = counts;
  const rows = [
    `${printCount(added)} added`,
    `${printCount(changed)} changed`,
    `${printCount(unchanged)} unchanged`,
    ...(stream === CATALOGUE ? [`${printCount(withdrawn)} withdrawn`] : []),
    ...(invalid > 0 ? [`${printCount(invalid)} invalid`] : []),
  ];
  const dry = isDryRun ? ' Dry run, nothing was changed.' : '';
  const result = windows > 0 ? rows.join(', ') : error === null ? 'up to date' : 'failed';
  return `${source}, ${stream}: ${through}; ${result}.${dry}`;
}

export function toJson({ completeThroughMs, failingSinceMs, ...report }: StreamReport) {
  const completeThrough = printTime(completeThroughMs);
  return { ...report, completeThrough, failingSince: printTime(failingSinceMs) };
}

/** Why the stream failed; an empty list if it did not. */
export function printFailure({ source, stream, error, failingSinceMs }: StreamReport): string[] {
  if (error === null) return [];
  const since = failingSinceMs === null ? '' : ` (failing since ${printTime(failingSinceMs)})`;
  return [`${source}, ${stream}: ${error}${since}`];
}
