// A server under test in its own process and, if possible, on its own core.

import { closeSync, openSync } from 'node:fs';
import { freePort } from '../service/test/support/postgres-server.ts';

export const SERVER_CORE = '0';
export const LOAD_CORE = '1';
const START_TIMEOUT_MS = 60_000;
/** Ticks per second of the times in /proc; the same on every Linux. */
const TICKS_PER_S = 100;

interface ServerOptions {
  /** Returns the command for the port to listen on. */
  readonly command: (port: number) => readonly string[];
  /** Path that returns a status below 500 as soon as the server is ready. */
  readonly readyPath: string;
  readonly headers?: Record<string, string>;
  readonly env?: Record<string, string>;
  /** File for the server's output. */
  readonly log: string;
  /** Cores to run on, such as "0" or "0,1". Default: the server core. */
  readonly cores?: string;
}

export type Server = Awaited<ReturnType<typeof startServer>>;

export async function startServer({ command, readyPath, headers, env, log, cores }: ServerOptions) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const output = openSync(log, 'a');
  const startedAtMs = performance.now();
  const child = Bun.spawn([...onCores(cores ?? SERVER_CORE), ...command(port)], {
    stdio: ['ignore', output, output],
    env: { ...process.env, ...env },
  });
  closeSync(output);
  while (!(await isReady(`${url}${readyPath}`, headers ?? {}))) {
    const late = performance.now() - startedAtMs > START_TIMEOUT_MS;
    if (late) child.kill('SIGKILL');
    if (late || child.exitCode !== null) {
      const printed = await Bun.file(log).text();
      throw new Error(`${command(port).join(' ')} did not start:\n${printed.slice(-1_000)}`);
    }
    await Bun.sleep(2);
  }
  return {
    url,
    /** Time from the start of the process to the first response. */
    startedInMs: performance.now() - startedAtMs,
    /** CPU time used so far. */
    async cpuSeconds(): Promise<number> {
      const stat = await Bun.file(`/proc/${child.pid}/stat`).text();
      // Skip the name in parentheses, which can contain spaces. User and system time are fields 14 and 15.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
    },
    /** Current and peak resident memory. */
    async memoryBytes(): Promise<{ now: number; peak: number }> {
      const status = await Bun.file(`/proc/${child.pid}/status`).text();
      const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) * 1024;
      return { now: read('VmRSS'), peak: read('VmHWM') };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      child.kill('SIGTERM');
      const cutOff = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await child.exited;
      clearTimeout(cutOff);
    },
  };
}

/** Prefix that pins a command to cores; empty without taskset or with only one core. */
export function onCores(cores: string): string[] {
  return Bun.which('taskset') === null || navigator.hardwareConcurrency < 2 ? [] : ['taskset', '-c', cores];
}

async function isReady(url: string, headers: Record<string, string>): Promise<boolean> {
  try {
    const response = await fetch(url, { headers, redirect: 'manual' });
    await response.arrayBuffer();
    return response.status < 500;
  } catch {
    return false;
  }
}
