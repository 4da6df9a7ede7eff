// A progress bar on stderr, if stderr is a terminal and the work takes longer than a second.

import { printCountOf } from '@offerbook/wire/count.ts';
import type { ImportProgress } from '@offerbook/wire/rows/row-problem.ts';

const WIDTH_MAX = 30;
const TERMINAL_WIDTH = 80;
const REDRAW_MS = 100;
const DELAY_MS = 1_000;

/** Takes the number of rows processed and, if known, of all rows. For files, it also takes the number of bytes read. */
type Show = (progress: number | ImportProgress, rowsTotal?: number) => void;

/** Removes the bar when the work ends. */
export async function withProgressBar<T>(work: (show: Show) => Promise<T>): Promise<T> {
  const stream = process.stderr;
  const startedAtMs = performance.now();
  let drawnAtMs = 0;
  try {
    return await work((progress, rowsTotal = 0) => {
      const nowMs = performance.now();
      if (!stream.isTTY || nowMs - startedAtMs < DELAY_MS || nowMs - drawnAtMs < REDRAW_MS) return;
      drawnAtMs = nowMs;
      // A longer line would wrap, and \r could not overwrite it.
      const lengthMax = (stream.columns ?? TERMINAL_WIDTH) - 1;
      stream.write(`\r\x1b[K${draw(progress, rowsTotal, lengthMax).slice(0, lengthMax)}`);
    });
  } finally {
    if (drawnAtMs > 0) stream.write('\r\x1b[K');
  }
}

function draw(progress: number | ImportProgress, rowsTotal: number, lengthMax: number): string {
  const {
    rows,
    bytesRead: done,
    bytesTotal: total = 0,
  } = typeof progress === 'number'
    ? { rows: progress, bytesRead: progress, bytesTotal: rowsTotal }
    : progress;
  if (total === 0) return printCountOf(rows, 'row');
  const share = Math.min(1, done / total);
  const label = `${Math.floor(share * 100)}% ${printCountOf(rows, 'row')}`;
  const width = Math.min(WIDTH_MAX, lengthMax - label.length - '[] '.length);
  if (width <= 0) return label;
  const filled = Math.round(share * width);
  return `[${'#'.repeat(filled)}${'-'.repeat(width - filled)}] ${label}`;
}
