// Runs the offerbook command as a process.

import { expect } from 'bun:test';
import { join } from 'node:path';
import { watchCommand, watchProcessList } from './leak-watch.ts';

/** Runs the sources, unless TEST_COMMAND names a built executable. */
export const COMMAND = process.env.TEST_COMMAND ?? join(import.meta.dir, '..', '..', 'bin', 'offerbook');

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The outcome of a command that is rejected with this sentence, or with an stderr that matches the expression. */
export function rejected(sentence: string | RegExp, code = 2): Finished {
  const stderr =
    typeof sentence === 'string' ? `offerbook: ${sentence}\n` : (expect.stringMatching(sentence) as never);
  return { code, stdout: '', stderr };
}

/** The outcome of a command that succeeds and prints nothing on stderr. */
export function printed(stdout: string): Finished {
  return { code: 0, stdout, stderr: '' };
}

export interface RunOptions {
  readonly stdin?: string | Uint8Array;
  readonly cwd?: string;
  readonly env?: Record<string, string | undefined>;
  /** Command to run instead of `offerbook`. */
  readonly command?: readonly string[];
  /** Limit on open files and sockets of the process. */
  readonly openFilesMax?: number;
}

export function offerbook(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return finish(spawnOfferbook(args, options));
}

/** Returns functions that run commands with these options. `json` expects success and returns the printed document. */
export function commandLine(defaults: () => RunOptions) {
  const run = (args: string | readonly string[], options: RunOptions = {}) =>
    offerbook(typeof args === 'string' ? args.split(' ') : args, { ...defaults(), ...options });
  const json = async (args: string, options: RunOptions = {}) => {
    const finished = await run(`${args} --json`, options);
    expect(finished).toEqual(printed(finished.stdout));
    return JSON.parse(finished.stdout);
  };
  return { run, json };
}

/** Runs any program, with this process's environment unless `env` is given. */
export function runProgram(
  command: readonly string[],
  { stdin = '', ...options }: Pick<RunOptions, 'cwd' | 'env'> & { readonly stdin?: string } = {},
): Promise<Finished> {
  return finish(
    Bun.spawn([...command], { stdin: new Blob([stdin]), stdout: 'pipe', stderr: 'pipe', ...options }),
  );
}

export async function finish(child: Bun.ReadableSubprocess): Promise<Finished> {
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

export function spawnOfferbook(args: readonly string[], options: RunOptions = {}) {
  const command = options.command ?? [COMMAND];
  const limited =
    options.openFilesMax === undefined
      ? command
      : ['/bin/sh', '-c', `ulimit -n ${options.openFilesMax} && exec "$0" "$@"`, ...command];
  const child = Bun.spawn([...limited, ...args], {
    stdin: typeof options.stdin === 'string' ? Buffer.from(options.stdin) : (options.stdin ?? 'ignore'),
    stdout: 'pipe',
    stderr: 'pipe',
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...cleanEnvironment(), ...options.env },
  });
  return watchCommand(args, child);
}

/** Like spawnOfferbook, with a stdin that the test writes to while the command runs. */
export function spawnWithInput(args: readonly string[], env: Record<string, string>) {
  const child = Bun.spawn([COMMAND, ...args], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...cleanEnvironment(), ...env },
  });
  return watchCommand(args, child);
}

/** The environment without the developer's own OFFERBOOK_ settings: `serve` rejects unknown ones. */
export function cleanEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('OFFERBOOK_')));
}

/** A running server process. */
export class ServerProcess implements AsyncDisposable {
  url = '';
  readonly #child: ReturnType<typeof spawnOfferbook>;
  readonly #lines: string[] = [];
  readonly #stderr: Promise<string>;

  private constructor(child: ReturnType<typeof spawnOfferbook>) {
    this.#child = child;
    this.#stderr = new Response(child.stderr).text();
  }

  /** Starts `offerbook serve` on a free port and waits until it is ready. */
  static async start(args: readonly string[], options: RunOptions = {}): Promise<ServerProcess> {
    const server = new ServerProcess(spawnOfferbook(['serve', '--port', '0', ...args], options));
    void server.#readLog();
    const [{ url }] = (await server.logged('listening')) as [{ url: string }];
    server.url = url;
    await server.logged('ready');
    watchProcessList(server.pid);
    return server;
  }

  async #readLog(): Promise<void> {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of this.#child.stdout) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      this.#lines.push(...parts);
    }
  }

  get logLines(): readonly string[] {
    return this.#lines;
  }

  /** Waits for this many log lines with this message, and returns them. */
  async logged(msg: string, count = 1): Promise<Record<string, unknown>[]> {
    while (true) {
      const lines = this.#lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      const found = lines.filter((line) => line.msg === msg);
      if (found.length >= count) return found;
      if (this.#child.exitCode !== null)
        throw new Error(`the server ended with ${this.#child.exitCode}: ${await this.#stderr}`);
      await Bun.sleep(10);
    }
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Waits for the process to exit without a signal. */
  async ended(): Promise<{ readonly code: number; readonly stderr: string }> {
    return { code: await this.#child.exited, stderr: await this.#stderr };
  }

  /** Sends a signal, waits for the process to exit, and returns its exit code. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
    this.#child.kill(signal);
    return this.#child.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL');
  }
}
