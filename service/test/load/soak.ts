// npm run test:soak -- --minutes N: overload for as long as wanted, on both databases and with all kinds of
// requests. Prints what was measured; exits with 1 when a bound is broken. Wants a machine that does nothing else.

import { parseArgs } from 'node:util';
import { DATABASES } from '../support/databases.ts';
import { stopPostgres } from '../support/postgres-server.ts';
import { LoadedService, type Seeded, seed } from './loaded-service.ts';
import { type OverloadReport, runOverload } from './overload.ts';

const GOODPUT_MIN = 0.9;
const LIVEZ_P99_MAX_MS = 1_000;
const RECOVERY_MAX_MS = 5_000;
const MEMORY_MAX_MB = 500;

const KINDS: Record<string, (seeded: Seeded) => Uint8Array[]> = {
  catalogue: ({ catalogueRequest }) => [catalogueRequest],
  transactions: ({ transactionsRequest }) => [transactionsRequest],
  both: ({ catalogueRequest, transactionsRequest }) => [catalogueRequest, transactionsRequest],
};

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    database: { type: 'string' },
    requests: { type: 'string' },
  },
});

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function brokenBounds(report: OverloadReport): string[] {
  const { goodput, livez, recoveryMs, memoryMb, failures, statuses } = report;
  const odd = Object.keys(statuses).filter((status) => !['200', '429', '503'].includes(status));
  return [
    goodput < GOODPUT_MIN ? 'goodput fell too far' : '',
    livez.failed > 0 || livez.p99Ms > LIVEZ_P99_MAX_MS ? '/livez did not answer in time' : '',
    recoveryMs > RECOVERY_MAX_MS ? 'it took too long to recover' : '',
    memoryMb.most > MEMORY_MAX_MB ? 'memory grew too far' : '',
    Object.keys(failures).length > 0 ? 'connections were cut off' : '',
    odd.length > 0 ? `there were answers of ${odd.join(', ')}` : '',
  ].filter((problem) => problem !== '');
}

function printReport(report: OverloadReport): void {
  const { livez, memoryMb } = report;
  const figures = {
    'peak, requests/s': Math.round(report.peakPerSecond),
    'good in overload, /s': `${Math.round(report.goodPerSecond)} (${Math.round(report.goodput * 100)} % of peak)`,
    statuses: JSON.stringify(report.statuses),
    'due but unsent': report.unsent,
    failures: JSON.stringify(report.failures),
    '/livez': `${livez.asked} asked, ${livez.failed} failed, p99 ${livez.p99Ms.toFixed(1)} ms`,
    'memory, MB': `${memoryMb.before} before, ${memoryMb.most} at most, ${memoryMb.after} after`,
    'recovered after, ms': Math.round(report.recoveryMs),
  };
  for (const [name, value] of Object.entries(figures)) print(`  ${name.padEnd(22)} ${value}`);
}

let broken = 0;
const chosen = (name: string, wanted: string | undefined) =>
  wanted === undefined || name.toLowerCase().startsWith(wanted.toLowerCase());
const runs = DATABASES.filter(({ name }) => chosen(name, values.database)).flatMap((database) =>
  Object.entries(KINDS)
    .filter(([kind]) => chosen(kind, values.requests))
    .map(([kind, requests]) => ({ database, kind, requests })),
);
try {
  for (const { database, kind, requests } of runs) {
    const overloadMs = (Number(values.minutes) * 60_000) / runs.length;
    print(`${database.name}, ${kind}, ${Math.round(overloadMs / 1000)} s at three times the peak`);
    const seeded = await seed(await database.create());
    await using service = await LoadedService.start(seeded);
    const report = await runOverload(service, seeded, {
      requests: requests(seeded),
      peakMs: 5_000,
      overloadMs,
    });
    printReport(report);
    const problems = brokenBounds(report);
    for (const problem of problems) print(`  broken: ${problem}`);
    broken += problems.length;
  }
} finally {
  await stopPostgres();
}
process.exit(broken === 0 ? 0 : 1);
