// Measures commands as processes.

import { median, megabytes, table } from './table.ts';

export interface Measured {
  readonly seconds: number;
  readonly peakBytes: number;
  /** CPU time of the process and its children, which varies less on a busy machine. Excludes a PostgreSQL server. */
  readonly cpuS: number;
}

export async function measureCommand(command: readonly string[]): Promise<Measured> {
  const startedMs = performance.now();
  // As service/bin/offerbook sets it.
  const env = { ...process.env, BUN_JSC_forceRAMSize: '200000000' };
  const child = Bun.spawn([...command], { stdout: 'ignore', stderr: 'inherit', env });
  if ((await child.exited) !== 0) throw new Error(`failed: ${command.join(' ')}`);
  const { maxRSS: peakBytes = 0, cpuTime } = child.resourceUsage() ?? {};
  const cpuS = Number(cpuTime?.total ?? 0) / 1e6;
  return { seconds: (performance.now() - startedMs) / 1000, peakBytes, cpuS };
}

/** A row for each command. */
export function measuredTable(measured: ReadonlyMap<string, readonly Measured[]>): string {
  const rows = [...measured].map(([what, results]) => {
    const seconds = results.map((it) => it.seconds);
    return [
      ...[what, `${median(results, (it) => it.seconds).toFixed(1)} s`],
      `${Math.min(...seconds).toFixed(1)} – ${Math.max(...seconds).toFixed(1)} s`,
      `${Math.min(...results.map((it) => it.cpuS)).toFixed(1)} s`,
      megabytes(Math.max(...results.map((it) => it.peakBytes))),
    ];
  });
  return table(['what', 'median', 'fastest – slowest', 'least CPU time', 'peak memory'], rows);
}
