// Measures the latency of well-behaved traffic with and without a hostile crowd, in alternating rounds, so that other load on
// the machine affects both.

import { join } from 'node:path';
import type { LoadedService, Seeded } from './loaded-service.ts';
import { Tally } from './tally.ts';
import { openLoop } from './traffic.ts';

const GOOD_PER_SECOND = 200;
const GOOD_CONNECTIONS_MAX = 100;
/** Time for the crowd to connect and to disconnect. */
const GATHER_MS = 500;

/** Number of files that the service may open during a run, such as the file of the walks and a connection of the test. */
export const FILES_SPARE = 10;

export interface HostilityReport {
  /** Medians over the rounds. */
  readonly quietP99Ms: number;
  readonly hostileP99Ms: number;
  readonly good: number;
  readonly statuses: Record<number, number>;
  readonly failures: Record<string, number>;
  readonly opened: number;
  readonly cutOff: number;
  /** Open files and sockets of the service: before the crowd connected, and the maximum. */
  readonly openFiles: { readonly before: number; readonly most: number };
  readonly memoryMb: { readonly before: number; readonly after: number };
}

export interface HostilityOptions {
  /** URL for all clients: the service itself, or a proxy in front of it. */
  readonly url: string;
  readonly held: number;
  readonly rounds: number;
  readonly roundMs: number;
  readonly seed: number;
}

export async function runHostility(
  service: LoadedService,
  seeded: Seeded,
  { url, held, rounds, roundMs, seed }: HostilityOptions,
): Promise<HostilityReport> {
  const requests = [seeded.catalogueRequest, seeded.catalogueRequest, seeded.transactionsRequest];
  const all = new Tally();
  const [quiet, hostile]: [number[], number[]] = [[], []];
  const measure = async (p99s: number[]) => {
    const traffic = { url, requests, durationMs: roundMs };
    const tally = await openLoop(traffic, GOOD_PER_SECOND, GOOD_CONNECTIONS_MAX);
    p99s.push(tally.percentileMs(0.99));
    all.add(tally);
  };
  const files = service.openFiles;
  await measure([]);
  const before = { files, memory: service.memoryMb };
  let [most, opened, cutOff] = [0, 0, 0];
  for (let round = 0; round < rounds; round++) {
    await measure(quiet);
    const crowd = await startCrowd(url, seeded.publicToken, held, seed + round);
    await Bun.sleep(GATHER_MS);
    await measure(hostile);
    most = Math.max(most, service.openFiles);
    const did = await crowd.stop();
    opened += did.opened;
    cutOff += did.cutOff;
    await Bun.sleep(GATHER_MS);
  }
  return {
    quietP99Ms: median(quiet),
    hostileP99Ms: median(hostile),
    good: all.answered,
    statuses: all.statuses,
    failures: all.failures,
    opened,
    cutOff,
    openFiles: { before: before.files, most },
    memoryMb: { before: before.memory, after: service.memoryMb },
  };
}

async function startCrowd(url: string, token: string, held: number, seed: number) {
  const program = join(import.meta.dir, 'hostile-process.ts');
  const child = Bun.spawn([process.execPath, program, url, String(held), String(seed)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.write(`${token}\n`);
  await child.stdin.flush();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  await lines.read();
  return {
    async stop(): Promise<{ opened: number; cutOff: number }> {
      await child.stdin.end();
      const { value } = await lines.read();
      await child.exited;
      return JSON.parse(value ?? '{}') as { opened: number; cutOff: number };
    },
  };
}

/**
 * Waits up to ten seconds until the service has about as few open files as before, and returns their number. Stop the proxy
 * first, because it keeps connections open for the next request.
 */
export async function countFilesLeftOpen(service: LoadedService, before: number): Promise<number> {
  const isTooMany = () => service.openFiles >= before + FILES_SPARE;
  for (let waited = 0; waited < 10_000 && isTooMany(); waited += 50) await Bun.sleep(50);
  return service.openFiles;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
