// What a pull prints: progress while it reads, and the result of each stream.

import { printCount, printCountOf } from '@offerbook/wire/count.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Clock } from '../../../domain/clock.ts';
import { CATALOGUE } from '../../../domain/pull.ts';
import type { StreamReport } from '../../../pull/source-run.ts';
import { progressLines } from '../../progress-bar.ts';

/** Shows the rows of all sources together, and prints a line for each source at most once a minute. */
export function pullProgress(show: (rows: number) => void, print: (line: string) => void, clock: Clock) {
  const rows = new Map<string, number>();
  return (source: string) => {
    const showLine = progressLines(print, clock);
    return (count: number, what: string) => {
      rows.set(source, count);
      show(rows.values().reduce((sum, value) => sum + value, 0));
      showLine(`${source}, ${what}: ${printCountOf(count, 'row')} read`);
    };
  };
}

export function printReport(
  { source, stream, windows, completeThroughMs, counts, error }: StreamReport,
  isDryRun: boolean,
): string {
  const through =
    completeThroughMs === null ? 'nothing read yet' : `complete through ${printTimestamp(completeThroughMs)}`;
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
  const time = (ms: number | null) => (ms === null ? null : printTimestamp(ms));
  return { ...report, completeThrough: time(completeThroughMs), failingSince: time(failingSinceMs) };
}

/** Since when the stream fails, for an error message. */
export function printSince({ failingSinceMs }: StreamReport): string {
  return failingSinceMs === null ? '' : ` (failing since ${printTimestamp(failingSinceMs)})`;
}
