// Measures commands as processes.

import { offerbook } from '../service/test/support/command.ts';
import { newDatabase } from './folder.ts';
import { median, megabytes, table } from './table.ts';

interface Measured {
  readonly seconds: number;
  readonly peakBytes: number;
  /** CPU time of the process and its children, which varies less on a busy machine. Excludes a PostgreSQL server. */
  readonly cpuS: number;
}

async function measureCommand(command: readonly string[]): Promise<Measured> {
  const startedMs = performance.now();
  // As service/bin/offerbook sets it.
  const env = { ...process.env, BUN_JSC_forceRAMSize: '200000000' };
  const child = Bun.spawn([...command], { stdout: 'ignore', stderr: 'inherit', env });
  if ((await child.exited) !== 0) throw new Error(`failed: ${command.join(' ')}`);
  const { maxRSS: peakBytes = 0, cpuTime } = child.resourceUsage() ?? {};
  const cpuS = Number(cpuTime?.total ?? 0) / 1e6;
  return { seconds: (performance.now() - startedMs) / 1000, peakBytes, cpuS };
}

/** The commands, by name, that are measured one after the other with one new database. */
interface Series {
  readonly database: string;
  readonly commands: (databaseUrl: string) => Readonly<Record<string, readonly string[]>>;
}

/**
 * Measures all series in turn, several times, because a machine's speed varies. Their databases have the organisation `bench`.
 * Returns a table with a row for each command.
 */
export async function measureInTurn(folder: string, all: readonly Series[], rounds: number): Promise<string> {
  const measured = new Map<string, Measured[]>();
  for (let round = 0; round < rounds; round++) {
    for (const { database, commands } of all) {
      const url = await newDatabase(database, folder);
      await offerbook(['orgs', 'create', 'bench', '--database', url]);
      for (const [what, command] of Object.entries(commands(url)))
        measured.set(what, [...(measured.get(what) ?? []), await measureCommand(command)]);
    }
  }
  const rows = [...measured].map(([what, results]) => {
    return [
      ...[what, `${median(results, (it) => it.seconds).toFixed(1)} s`],
      `${Math.min(...results.map((it) => it.cpuS)).toFixed(1)} s`,
      megabytes(Math.max(...results.map((it) => it.peakBytes))),
    ];
  });
  return table(['what', 'median', 'least CPU time', 'peak memory'], rows);
}
