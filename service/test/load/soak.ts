// npm run test:soak -- --minutes N: N minutes of overload on both databases with all kinds of requests, then thousands of
// hostile clients, directly and through proxies, then clients that pipeline without end, then 750 MB of the largest possible
// transactions. Prints the measurements; exits with 1 if a limit is exceeded. Needs an otherwise idle machine.

import { parseArgs } from 'node:util';
import { PAGE_BYTES_MAX } from '../../src/domain/page.ts';
import { DATABASES } from '../support/databases.ts';
import { stopPostgres } from '../support/postgres-server.ts';
import { PROXIES, type ProxyName, ReverseProxy } from '../support/reverse-proxy.ts';
import { countFilesLeftOpen, FILES_SPARE, type HostilityReport, runHostility } from './hostility.ts';
import { ENVELOPE_BYTES_MAX, type LargePagesReport, runLargePages } from './large-pages.ts';
import { LoadedService, type Seeded, seed } from './loaded-service.ts';
import { type OverloadReport, runOverload } from './overload.ts';
import { type Flood, type PipeliningReport, runPipelining } from './pipelining.ts';

const GOODPUT_MIN = 0.9;
const LIVEZ_P99_MAX_MS = 1_000;
const RECOVERY_MAX_MS = 5_000;
const MEMORY_MAX_MB = 500;
const HELD_UP_MAX_MS = 100;
const LARGEST = { transactions: 1_000, greedyMs: 10_000 };
const CROWD = { held: 3_000, rounds: 5, roundMs: 3_000, seed: 1 };

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
    only: { type: 'string' },
  },
});

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints the measurements and the exceeded limits; returns the number of exceeded limits. */
function printReport(figures: Record<string, unknown>, bounds: Record<string, boolean>): number {
  for (const [name, value] of Object.entries(figures)) {
    print(`  ${name.padEnd(22)} ${typeof value === 'object' ? JSON.stringify(value) : value}`);
  }
  const broken = Object.keys(bounds).filter((name) => bounds[name] === false);
  for (const name of broken) print(`  BROKEN: ${name}`);
  return broken.length;
}

function printOverload(report: OverloadReport): number {
  const { goodput, livez, memoryMb, recoveryMs, failures, statuses } = report;
  const figures = {
    'peak, requests/s': Math.round(report.peakPerSecond),
    'good in overload, /s': `${Math.round(report.goodPerSecond)} (${Math.round(goodput * 100)} % of peak)`,
    statuses,
    'due but unsent': report.unsent,
    failures,
    '/livez': `${livez.asked} asked, ${livez.failed} failed, p99 ${livez.p99Ms.toFixed(1)} ms`,
    'memory, MB': memoryMb,
    'recovered after, ms': Math.round(recoveryMs),
  };
  return printReport(figures, {
    'goodput is at least 90 % of the peak': goodput >= GOODPUT_MIN,
    '/livez responds in time': livez.failed === 0 && livez.p99Ms <= LIVEZ_P99_MAX_MS,
    'the service recovers within 5 seconds': recoveryMs <= RECOVERY_MAX_MS,
    'memory is bounded': memoryMb.most <= MEMORY_MAX_MB,
    'no connection is closed without a response': Object.keys(failures).length === 0,
    'statuses are 200, 429 or 503': Object.keys(statuses).every((status) =>
      ['200', '429', '503'].includes(status),
    ),
  });
}

function printHostility(report: HostilityReport, filesAfter: number): number {
  const { quietP99Ms, hostileP99Ms, statuses, failures, openFiles, memoryMb } = report;
  const figures = {
    'good requests': report.good,
    statuses,
    failures,
    'p99, ms': `${quietP99Ms.toFixed(2)} without, ${hostileP99Ms.toFixed(2)} with the crowd`,
    'hostile connections': `${report.opened} opened, ${report.cutOff} cut off while they were held`,
    'open files': { ...openFiles, after: filesAfter },
    'memory, MB': memoryMb,
  };
  return printReport(figures, {
    'p99 at most doubles': hostileP99Ms <= 2 * quietP99Ms,
    'every good request is answered': Object.keys({ ...statuses, ...failures }).join() === '200',
    'nothing leaks': filesAfter < openFiles.before + FILES_SPARE && memoryMb.after <= MEMORY_MAX_MB,
  });
}

function printPipelining(report: PipeliningReport, { connections }: Flood): number {
  const { quietP99Ms, floodedP99Ms, livezMaxMs, statuses, failures } = report;
  const figures = {
    statuses,
    failures,
    'p99, ms': `${quietP99Ms.toFixed(2)} without, ${floodedP99Ms.toFixed(2)} with the flood`,
    '/livez, at most, ms': livezMaxMs.toFixed(1),
    'connections of the flood': report.connections,
  };
  return printReport(figures, {
    ...(connections === 1
      ? { 'p99 at most doubles': floodedP99Ms <= 2 * quietP99Ms }
      : { '/livez takes less than a second': livezMaxMs < 1_000 }),
    'every good request is answered': Object.keys({ ...statuses, ...failures }).join() === '200',
  });
}

function printLargePages(report: LargePagesReport): number {
  const { walked, largestPageBytes, heldUpMs, greedy, other, livez, memoryMb } = report;
  const figures = {
    'items of each walk': walked,
    'largest page, bytes': largestPageBytes,
    'held up, ms': Math.round(heldUpMs),
    'greedy followers': greedy.statuses,
    'another organisation': { ...other.statuses, p99Ms: Math.round(other.percentileMs(0.99)) },
    '/livez': `p99 ${livez.percentileMs(0.99).toFixed(1)} ms, at most ${livez.percentileMs(1).toFixed(1)} ms`,
    'memory, MB': memoryMb,
  };
  return printReport(figures, {
    'every walk contains every item': walked.every((items) => items === LARGEST.transactions),
    'a page has at most 4 MiB': largestPageBytes <= PAGE_BYTES_MAX + ENVELOPE_BYTES_MAX,
    'no page blocks the process for more than 100 ms': heldUpMs <= HELD_UP_MAX_MS,
    'every request of the other organisation succeeds': Object.keys(other.statuses).join() === '200',
    'memory is bounded': memoryMb <= MEMORY_MAX_MB,
  });
}

const chosen = (name: string, wanted: string | undefined) =>
  wanted === undefined || name.toLowerCase().startsWith(wanted.toLowerCase());

async function overloadEverything(minutes: number): Promise<number> {
  const runs = DATABASES.filter(({ name }) => chosen(name, values.database)).flatMap((database) =>
    Object.entries(KINDS)
      .filter(([kind]) => chosen(kind, values.requests))
      .map(([kind, requests]) => ({ database, kind, requests })),
  );
  const overloadMs = (minutes * 60_000) / runs.length;
  let broken = 0;
  for (const { database, kind, requests } of runs) {
    print(`${database.name}, ${kind}, ${Math.round(overloadMs / 1000)} s at three times the peak`);
    const seeded = await seed(await database.create());
    await using service = await LoadedService.start(seeded);
    broken += printOverload(
      await runOverload(service, seeded, { requests: requests(seeded), peakMs: 5_000, overloadMs }),
    );
  }
  return broken;
}

async function runThrough(place: 'alone' | ProxyName, service: LoadedService, seeded: Seeded) {
  await using proxy = place === 'alone' ? undefined : await ReverseProxy.start(place, [service.url]);
  return await runHostility(service, seeded, { url: proxy?.url ?? service.url, ...CROWD });
}

async function sendHostileCrowds(): Promise<number> {
  let broken = 0;
  for (const place of ['alone', ...PROXIES] as readonly ('alone' | ProxyName)[]) {
    print(`${CROWD.held} hostile clients, the service ${place === 'alone' ? place : `behind ${place}`}`);
    const seeded = await seed((await DATABASES[0]?.create()) ?? '');
    await using service = await LoadedService.start(seeded);
    const report = await runThrough(place, service, seeded);
    broken += printHostility(report, await countFilesLeftOpen(service, report.openFiles.before));
  }
  return broken;
}

const FLOODS: readonly Flood[] = [
  { connections: 1, burst: 0 },
  { connections: 64, burst: 19 },
];

async function pipelineWithoutEnd(): Promise<number> {
  let broken = 0;
  for (const workers of ['1', '2']) {
    for (const flood of FLOODS) {
      print(
        `${flood.connections} connections that pipeline, bursts of ${flood.burst || 'any size'}, workers: ${workers}`,
      );
      const seeded = await seed((await DATABASES[0]?.create()) ?? '');
      await using service = await LoadedService.start(seeded, ['--workers', workers]);
      const report = await runPipelining(service, seeded, { ...flood, rounds: 5, roundMs: 3_000 });
      broken += printPipelining(report, flood);
    }
  }
  return broken;
}

async function followLargest(): Promise<number> {
  let broken = 0;
  for (const database of DATABASES.filter(({ name }) => chosen(name, values.database))) {
    print(`${database.name}, ${LARGEST.transactions} of the largest transactions`);
    broken += printLargePages(await runLargePages(await database.create(), LARGEST));
  }
  return broken;
}

let broken = 0;
try {
  if (chosen('overload', values.only)) broken += await overloadEverything(Number(values.minutes));
  if (chosen('hostile', values.only)) broken += await sendHostileCrowds();
  if (chosen('pipelining', values.only)) broken += await pipelineWithoutEnd();
  if (chosen('large', values.only)) broken += await followLargest();
} finally {
  await stopPostgres();
}
process.exit(broken === 0 ? 0 : 1);
