// A progress bar on stderr, shown only if stderr is a terminal.

import { printCountOf } from '@offerbook/wire/count.ts';
import type { ImportProgress } from '@offerbook/wire/rows/row-report.ts';

const WIDTH = 30;
const REDRAW_MS = 100;

/** Number of rows processed; for files, also the number of bytes read. */
type Progress = number | ImportProgress;

/** Removes the bar when the work ends. */
export async function withProgressBar<T>(
  work: (show: (progress: Progress) => void) => Promise<T>,
): Promise<T> {
  const stream = process.stderr;
  let drawnAtMs = 0;
  try {
    return await work((progress) => {
      const nowMs = performance.now();
      if (!stream.isTTY || nowMs - drawnAtMs < REDRAW_MS) return;
      drawnAtMs = nowMs;
      stream.write(`\r\x1b[K${draw(progress)}`);
    });
  } finally {
    if (drawnAtMs > 0) stream.write('\r\x1b[K');
  }
}

function draw(progress: Progress): string {
  if (typeof progress === 'number') return printCountOf(progress, 'row');
  const { bytesRead, bytesTotal = 0, rows } = progress;
  if (bytesTotal === 0) return printCountOf(rows, 'row');
  const share = Math.min(1, bytesRead / bytesTotal);
  const filled = Math.round(share * WIDTH);
  const bar = `${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}`;
  return `[${bar}] ${Math.floor(share * 100)} % ${printCountOf(rows, 'row')}`;
}
