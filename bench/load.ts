// Load from wrk, on the core that the servers leave free.

import { join } from 'node:path';
import { percentile } from './percentile.ts';
import { LOAD_CORE, onCores } from './server.ts';
import { getTool } from './tool.ts';

const SCRIPT = join(import.meta.dir, 'wrk.lua');
export const CONNECTIONS = 64;
/** The runtime goes on compiling what is used most for some ten thousand requests. */
const WARM_UP_S = 3;

export interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Instead of always the same GET: a file of paths to ask for, from any of them on, or of a body to POST. */
  readonly file?: readonly ['paths' | 'body', string];
  readonly connections?: number;
  readonly cores?: string;
}

export interface Measured {
  readonly requestsPerS: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Requests that got no answer, or one of 400 and above. */
  readonly failed: number;
}

export async function runLoad(load: Load, seconds: number): Promise<Measured> {
  const wrk = await getTool('wrk');
  const child = Bun.spawn(
    [
      ...[...onCores(load.cores ?? LOAD_CORE), wrk, '-t', '1', '-c', String(load.connections ?? CONNECTIONS)],
      ...['-d', `${seconds}s`, '-s', SCRIPT],
      ...Object.entries(load.headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
      // Whoever began at the same place every time would find in memory what the last round has read.
      ...[load.url, ...(load.file === undefined ? [] : ['--', ...load.file, String(anyNumber())])],
    ],
    { stdout: 'pipe', stderr: 'inherit' },
  );
  const lines = (await new Response(child.stdout).text()).split('\n');
  const line = lines.find((candidate) => candidate.startsWith('{'));
  if (line === undefined) throw new Error(`wrk printed no result for ${load.url}`);
  const { requests, seconds: lasted, p50Ms, p99Ms, failed } = JSON.parse(line) as Record<string, number>;
  return {
    requestsPerS: (requests ?? 0) / (lasted ?? 1),
    p50Ms: p50Ms ?? Number.NaN,
    p99Ms: p99Ms ?? Number.NaN,
    failed: failed ?? 0,
  };
}

export function anyNumber(): number {
  return Math.floor(Math.random() * 1_000_000);
}

/** Several measurements of one thing. */
export class Series {
  readonly measured: Measured[] = [];

  get requestsPerS(): number {
    return percentile(this.#all('requestsPerS'), 0.5);
  }

  /**
   * The median over the rounds, in each of which both were measured within seconds of one another: a machine that is
   * fast in one minute and slow in the next is so to both.
   */
  timesAsFastAs(other: Series): number {
    const ratios = this.measured.map(
      ({ requestsPerS }, round) => requestsPerS / (other.measured[round]?.requestsPerS ?? Number.NaN),
    );
    return percentile(ratios, 0.5);
  }

  get slowest(): number {
    return Math.min(...this.#all('requestsPerS'));
  }

  get fastest(): number {
    return Math.max(...this.#all('requestsPerS'));
  }

  get p99Ms(): number {
    return percentile(this.#all('p99Ms'), 0.5);
  }

  get failed(): number {
    return this.#all('failed').reduce((a, b) => a + b, 0);
  }

  #all(field: keyof Measured): number[] {
    return this.measured.map((each) => each[field]);
  }
}

/** From wrk, or whatever measures itself for so many seconds. */
export type Contender = Load | ((seconds: number) => Promise<Measured>);

/**
 * Measures every contender in turn, several times over: whatever else the machine does while this runs, it does to all
 * of them alike. Every second round goes backwards, so that nobody always comes after whoever has just warmed the same
 * caches up, or emptied them. A first round, to warm everything up, does not count.
 */
export async function compare<Name extends string>(
  contenders: Readonly<Record<Name, Contender>>,
  { seconds, repeats }: { readonly seconds: number; readonly repeats: number },
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
  return series;
}
