// A server under test in its own process and, if possible, on its own core.

import { closeSync, openSync } from 'node:fs';
import { freePort } from '../service/test/support/postgres-server.ts';

export const SERVER_CORE = '0';
export const LOAD_CORE = '1';
const START_TIMEOUT_MS = 60_000;
/** Ticks per second of the times in /proc; the same on every Linux. */
const TICKS_PER_S = 100;

export interface ServerOptions {
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

export class Server implements AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** Time from the start of the process to the first response. */
  readonly startedInMs: number;
  readonly #child: Bun.Subprocess;

  private constructor(url: string, child: Bun.Subprocess, startedInMs: number) {
    this.url = url;
    this.pid = child.pid;
    this.startedInMs = startedInMs;
    this.#child = child;
  }

  static async start(options: ServerOptions): Promise<Server> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const log = openSync(options.log, 'a');
    const startedAtMs = performance.now();
    const child = Bun.spawn([...onCores(options.cores ?? SERVER_CORE), ...options.command(port)], {
      stdio: ['ignore', log, log],
      env: { ...process.env, ...options.env },
    });
    closeSync(log);
    while (!(await isReady(`${url}${options.readyPath}`, options.headers ?? {}))) {
      const late = performance.now() - startedAtMs > START_TIMEOUT_MS;
      if (late) child.kill('SIGKILL');
      if (late || child.exitCode !== null) {
        const printed = await Bun.file(options.log).text();
        throw new Error(`${options.command(port).join(' ')} did not start:\n${printed.slice(-1_000)}`);
      }
      await Bun.sleep(2);
    }
    return new Server(url, child, performance.now() - startedAtMs);
  }

  /** CPU time used so far. */
  async cpuSeconds(): Promise<number> {
    const stat = await Bun.file(`/proc/${this.pid}/stat`).text();
    // Skip the name in parentheses, which can contain spaces. User and system time are fields 14 and 15.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
  }

  /** Current and peak resident memory. */
  async memoryBytes(): Promise<{ now: number; peak: number }> {
    const status = await Bun.file(`/proc/${this.pid}/status`).text();
    const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) * 1024;
    return { now: read('VmRSS'), peak: read('VmHWM') };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGTERM');
    const cutOff = setTimeout(() => this.#child.kill('SIGKILL'), 5_000);
    await this.#child.exited;
    clearTimeout(cutOff);
  }
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
