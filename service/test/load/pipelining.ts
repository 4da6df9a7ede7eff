// Measures the latency of well-behaved traffic with and without clients that pipeline, in alternating rounds, so that other
// load on the machine affects both.

import { join } from 'node:path';
import type { LoadedService, Seeded } from './loaded-service.ts';
import { Tally } from './tally.ts';
import { openLoop } from './traffic.ts';

const GOOD_PER_SECOND = 200;
const GOOD_CONNECTIONS_MAX = 100;

/** The connections of the flood, and the requests that each sends before it reconnects; 0 for requests without end. */
export interface Flood {
  readonly connections: number;
  readonly burst: number;
}

export interface PipeliningReport {
  /** Medians over the rounds. */
  readonly quietP99Ms: number;
  readonly floodedP99Ms: number;
  readonly statuses: Record<number, number>;
  readonly failures: Record<string, number>;
  /** Longest response time of /livez during the flood. */
  readonly livezMaxMs: number;
  /** Number of connections that the flood opened, and bytes that it received. */
  readonly connections: number;
  readonly receivedBytes: number;
}

export async function runPipelining(
  service: LoadedService,
  { catalogueRequest }: Seeded,
  { rounds, roundMs, ...shape }: Flood & { readonly rounds: number; readonly roundMs: number },
): Promise<PipeliningReport> {
  const all = new Tally();
  const measure = async (): Promise<number> => {
    const traffic = { url: service.url, requests: [catalogueRequest], durationMs: roundMs };
    const tally = await openLoop(traffic, GOOD_PER_SECOND, GOOD_CONNECTIONS_MAX);
    all.add(tally);
    return tally.percentileMs(0.99);
  };
  await measure();
  const [quiet, flooded]: [number[], number[]] = [[], []];
  let [livezMaxMs, connections, receivedBytes] = [0, 0, 0];
  for (let round = 0; round < rounds; round++) {
    quiet.push(await measure());
    const flood = await startFlood(service.url, shape);
    const [p99Ms, longestMs] = await Promise.all([measure(), longestLivezMs(service, roundMs)]);
    flooded.push(p99Ms);
    livezMaxMs = Math.max(livezMaxMs, longestMs);
    const did = await flood.stop();
    connections += did.connections;
    receivedBytes += did.receivedBytes;
  }
  return {
    quietP99Ms: median(quiet),
    floodedP99Ms: median(flooded),
    statuses: all.statuses,
    failures: all.failures,
    livezMaxMs,
    connections,
    receivedBytes,
  };
}

async function longestLivezMs(service: LoadedService, durationMs: number): Promise<number> {
  const endMs = performance.now() + durationMs;
  let longest = 0;
  while (performance.now() < endMs) {
    longest = Math.max(longest, await service.livezMs());
    await Bun.sleep(50);
  }
  return longest;
}

export async function startFlood(url: string, { connections, burst }: Flood) {
  const program = join(import.meta.dir, 'pipelining-process.ts');
  const child = Bun.spawn([process.execPath, program, url, String(connections), String(burst)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  await lines.read();
  return {
    async stop(): Promise<{ connections: number; receivedBytes: number }> {
      await child.stdin.end();
      const { value } = await lines.read();
      await child.exited;
      return JSON.parse(value ?? '{}') as { connections: number; receivedBytes: number };
    },
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
