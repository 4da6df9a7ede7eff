// Generates load with wrk, on the core that the server does not use.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findTool } from './peers.ts';
import { LOAD_CORE, onCores } from './server.ts';
import { median, milliseconds, table, whole } from './table.ts';

const SCRIPT = join(import.meta.dir, 'wrk.lua');
const CONNECTIONS = 64;
/** Bun keeps compiling hot code for about 10,000 requests. */
const WARM_UP_S = 3;
/** Far more pages than the service caches, so that every request is a cache miss. */
const DIFFERENT_PATHS = 20_000;

export interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** File with paths to request in order from a random start. Default: repeat the URL. */
  readonly paths?: string;
  readonly connections?: number;
  readonly cores?: string;
}

export interface Measured {
  readonly requestsPerS: number;
  readonly p99Ms: number;
  /** Requests without a response, or with a status of 400 or above. */
  readonly failed: number;
}

export async function runLoad(load: Load, seconds: number): Promise<Measured> {
  const wrk = findTool('wrk');
  const child = Bun.spawn(
    [
      ...[...onCores(load.cores ?? LOAD_CORE), wrk, '-t', '1', '-c', String(load.connections ?? CONNECTIONS)],
      ...['-d', `${seconds}s`, '-s', SCRIPT],
      ...Object.entries(load.headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
      // Start at a different path each time, because the pages of the last round are still cached.
      ...[load.url, ...(load.paths === undefined ? [] : ['--', load.paths, String(anyNumber())])],
    ],
    { stdout: 'pipe', stderr: 'inherit' },
  );
  const lines = (await new Response(child.stdout).text()).split('\n');
  const line = lines.find((candidate) => candidate.startsWith('{'));
  if (line === undefined) throw new Error(`wrk printed no result for ${load.url}`);
  return JSON.parse(line) as Measured;
}

/** Writes a file of paths that are all different. */
export function pathsFile(
  folder: string,
  name: string,
  nextPath: () => string,
  length = DIFFERENT_PATHS,
): string {
  const file = join(folder, `${name}.txt`);
  writeFileSync(file, Array.from({ length }, nextPath).join('\n'));
  return file;
}

export function anyNumber(): number {
  return Math.floor(Math.random() * 1_000_000);
}

/** Repeated measurements of one contender. */
export class Series {
  readonly measured: Measured[];

  constructor(measured: Measured[] = []) {
    this.measured = measured;
  }

  get requestsPerS(): number {
    return median(this.measured, (it) => it.requestsPerS);
  }

  get p99Ms(): number {
    return median(this.measured, (it) => it.p99Ms);
  }

  get failed(): number {
    return this.measured.reduce((sum, it) => sum + it.failed, 0);
  }

  /**
   * Median of the per-round ratios. In each round both were measured within seconds of each other, so changes in the
   * machine's speed affect both.
   */
  timesAsFastAs(other: Series): number {
    const rounds = this.measured.map(({ requestsPerS }, i) => [requestsPerS, other.measured[i]] as const);
    return median(rounds, ([ours, theirs]) => ours / (theirs?.requestsPerS ?? Number.NaN));
  }
}

/** A load for wrk, or a function that measures for the given number of seconds. */
export type Contender = Load | ((seconds: number) => Promise<Measured>);

export interface Comparison {
  readonly seconds: number;
  readonly repeats: number;
  readonly print: (table: string) => void;
}

/**
 * Measures all contenders in turn, several times, so that other activity on the machine affects all alike. Every second
 * round runs in reverse order, so that no contender always follows one that warmed or evicted its caches. The first round is
 * for warming up and does not count. Prints a row for each contender, fastest first.
 */
export async function compare<Name extends string>(
  what: string,
  contenders: Readonly<Record<Name, Contender>>,
  { seconds, repeats, print }: Comparison,
): Promise<Record<Name, Series>> {
  const names = Object.keys(contenders) as Name[];
  const series = Object.fromEntries(names.map((name) => [name, new Series()])) as Record<Name, Series>;
  const measure = (name: Name, forSeconds: number) => {
    const contender: Contender = contenders[name];
    return typeof contender === 'function' ? contender(forSeconds) : runLoad(contender, forSeconds);
  };
  for (const name of names) await measure(name, WARM_UP_S);
  for (let round = 0; round < repeats; round++) {
    const turns = round % 2 === 0 ? names : names.toReversed();
    for (const name of turns) series[name].measured.push(await measure(name, seconds));
  }
  const rows = Object.entries<Series>(series)
    .toSorted(([, a], [, b]) => b.requestsPerS - a.requestsPerS)
    .map(([name, each]) => [
      ...[name, whole(each.requestsPerS), milliseconds(each.p99Ms), String(each.failed)],
    ]);
  print(table([what, 'requests/s', 'p99', 'failed'], rows));
  return series;
}
