// A progress bar on stderr, drawn only when a person is watching.

import { printCountOf } from '../../domain/count.ts';
import type { ImportProgress } from '../../importer/import-report.ts';

const WIDTH = 30;
const REDRAW_MS = 100;

export function progressBar(stream: NodeJS.WriteStream = process.stderr) {
  let drawnAtMs = 0;

  return {
    show({ bytesRead, bytesTotal, rows }: ImportProgress): void {
      const nowMs = performance.now();
      if (!stream.isTTY || nowMs - drawnAtMs < REDRAW_MS) return;
      drawnAtMs = nowMs;
      const share =
        bytesTotal === undefined || bytesTotal === 0 ? undefined : Math.min(1, bytesRead / bytesTotal);
      const filled = Math.round((share ?? 0) * WIDTH);
      const bar =
        share === undefined
          ? ''
          : `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}] ${Math.floor(share * 100)} % `;
      stream.write(`\r\x1b[K${bar}${printCountOf(rows, 'row')}`);
    },
    clear(): void {
      if (drawnAtMs > 0) stream.write('\r\x1b[K');
    },
  };
}
