// Good traffic beside a hostile crowd: how long its requests take with and without the crowd, in turn, so that
// whatever else the machine does falls on both.

import { join } from 'node:path';
import type { LoadedService, Seeded } from './loaded-service.ts';
import { Tally } from './tally.ts';
import { openLoop } from './traffic.ts';

const GOOD_PER_SECOND = 200;
const GOOD_CONNECTIONS_MAX = 100;
/** The crowd needs a moment to gather, and one to go. */
const GATHER_MS = 500;

/** The service opens a few files of its own on the way: that of the walks, and a connection of ours. */
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
  /** Files and sockets of the service: before the crowd came, and at most. */
  readonly openFiles: { readonly before: number; readonly most: number };
  readonly memoryMb: { readonly before: number; readonly after: number };
}

export interface HostilityOptions {
  /** Where everybody connects to: the service itself, or a proxy before it. */
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
 * Waits until the service has about as few files open as before, ten seconds at most, and tells how many those are.
 * A proxy must be gone by then: it keeps connections for the next request.
 */
export async function countFilesLeftOpen(service: LoadedService, before: number): Promise<number> {
  const isTooMany = () => service.openFiles >= before + FILES_SPARE;
  for (let waited = 0; waited < 10_000 && isTooMany(); waited += 50) await Bun.sleep(50);
  return service.openFiles;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
