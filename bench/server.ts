// A server under test: a process of its own, on a core of its own where that can be had.

import { closeSync, openSync } from 'node:fs';
import { freePort } from '../service/test/support/postgres-server.ts';

export const SERVER_CORE = '0';
export const LOAD_CORE = '1';
const START_TIMEOUT_MS = 60_000;
/** Of the times in /proc; the same on every Linux. */
const TICKS_PER_S = 100;

export interface ServerOptions {
  /** Told the port to listen on. */
  readonly command: (port: number) => readonly string[];
  /** Answers, with anything but an error of its own, as soon as the server can be measured. */
  readonly readyPath: string;
  readonly headers?: Record<string, string>;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** A file for what it prints. */
  readonly log: string;
  /** Cores to run on, such as "0" or "0,1"; the server's own unless given. */
  readonly cores?: string;
}

export class Server implements AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** From the start of the process to the first answer. */
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
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: { ...process.env, ...options.env },
    });
    closeSync(log);
    while (!(await answers(`${url}${options.readyPath}`, options.headers ?? {}))) {
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

  /** Processor time used so far, of all threads. */
  async cpuSeconds(): Promise<number> {
    const stat = await Bun.file(`/proc/${this.pid}/stat`).text();
    // The name, in parentheses, may hold anything. User and system time are the 14th and 15th field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
  }

  /** Resident memory now, and the most that it ever was. */
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

/** What to put before a command; nothing where there is no taskset or only one core. */
export function onCores(cores: string): string[] {
  return Bun.which('taskset') === null || navigator.hardwareConcurrency < 2 ? [] : ['taskset', '-c', cores];
}

async function answers(url: string, headers: Record<string, string>): Promise<boolean> {
  try {
    const response = await fetch(url, { headers, redirect: 'manual' });
    await response.arrayBuffer();
    return response.status < 500;
  } catch {
    return false;
  }
}
