// npm test, npm run test:long and npm run test:unit: run the test files of a tier in parallel processes, the slowest first.
// npm test first checks types and lint, while it prepares the tests. Further arguments (paths, options) go to `bun test`.
// The processes share a PostgreSQL server, a browser and the built executable, which starts faster than the sources and is what
// users run. Prints a line per file, and at the end the whole output of the files that failed, the missing programs, and the
// number of tests.

import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
// First, because it sets the folder for temporary files.
import { leaveMemory } from '../service/test/support/in-memory.ts';

const ROOT = join(import.meta.dir, '..');
const LONG = '.long.test.ts';

const WITHOUT_LONG = ['--path-ignore-patterns', `**/*${LONG}`];

/** Options of `bun test` for each tier, and its paths unless others are given. */
const TIERS = {
  /** Everything except the files named *.long.test.ts. */
  ordinary: { options: WITHOUT_LONG, paths: [] },
  long: { options: [], paths: [LONG] },
  /** Tests that need neither PostgreSQL nor a browser nor the executable. */
  unit: {
    options: WITHOUT_LONG,
    paths: [
      ...['feeds/test/', 'site/test/', 'wire/test/', 'service/test/architecture.test.ts'],
      ...['service/test/catalogue/', 'service/test/domain/', 'service/test/importer/'],
    ],
  },
} as const;

/** The test processes are killed if they report nothing for this long. Each test has a limit of two minutes. */
const HANG_MS = Number(process.env.TEST_HANG_SECONDS ?? 600) * 1000;
const PRINT_DELAY_MS = 500;
/** More processes than cores, because many tests wait. */
const PROCESSES = 2 * availableParallelism();

/** Lines with which Bun ends a run; this runner prints its own. */
const SUMMARY = /^(bun test v|\(fail\)|\(skip\)| *\d+ (tests? )?(pass|skip|fail|filtered|expect)|Ran \d|$)/;
const isFailure = (line: string) => /^\(fail\)|^# Unhandled error|^✗ /.test(line);

/**
 * Collects Bun's output by file, and prints a line when a file has finished. The preload and Bun write to different pipes, so a
 * file's results may arrive a little after the report that it has finished.
 */
class Output {
  /** The lines of each file by its path. */
  readonly files = new Map<string, string[]>();
  /** Lines outside of files: the summary, and errors of Bun itself. */
  readonly rest: string[] = [];
  /** Milliseconds of each finished file. */
  readonly #finished = new Map<string, number>();
  readonly #printed = new Set<string>();
  #lines = this.rest;
  #partial = '';

  add(text: string): void {
    const lines = (this.#partial + text).split('\n');
    this.#partial = lines.pop() ?? '';
    for (const line of lines) this.#addLine(line);
  }

  /** Prints the lines of finished files. Returns the files that failed or, in a run that failed, did not finish. */
  end(isFailed: boolean): [path: string, lines: string[]][] {
    for (const path of this.#finished.keys()) this.#print(path);
    return [...this.files].filter(
      ([path, lines]) => lines.some(isFailure) || (isFailed && !this.#finished.has(path)),
    );
  }

  counted(what: string): number {
    const found = this.rest.map((line) => new RegExp(`^ *(\\d+) ${what}$`).exec(line)?.[1]).find(Boolean);
    return Number(found ?? 0);
  }

  #addLine(line: string): void {
    const [, path] = /^(\S+\.test\.ts):$/.exec(line) ?? [];
    const [, done, ms] = /^\(done\) (.+) \[(\d+)ms\]$/.exec(line) ?? [];
    if (done !== undefined) {
      const finished = relative(process.cwd(), done);
      this.#finished.set(finished, Number(ms));
      setTimeout(() => this.#print(finished), PRINT_DELAY_MS).unref();
    } else if (path !== undefined) {
      this.#lines = this.files.get(path) ?? [];
      this.files.set(path, this.#lines);
    } else {
      if (/^ *\d+ (pass|fail)$|^\d+ tests? (failed|skipped):$/.test(line)) this.#lines = this.rest;
      this.#lines.push(line);
    }
  }

  #print(path: string): void {
    if (this.#printed.has(path)) return;
    this.#printed.add(path);
    const lines = this.files.get(path) ?? [];
    const count = (result: string) => lines.filter((line) => line.startsWith(`(${result})`)).length;
    const skipped = count('skip') === 0 ? '' : `, ${count('skip')} skipped`;
    const result = `${count('pass')} passed${skipped}${lines.some(isFailure) ? ', FAILED' : ''}`;
    process.stdout.write(`${path}: ${result}, ${((this.#finished.get(path) ?? 0) / 1000).toFixed(1)} s\n`);
  }
}

/** Runs the tests and passes on their output. Returns the exit code. */
async function run(args: readonly string[], env: Record<string, string>, output: Output): Promise<number> {
  const command = [process.execPath, 'test', '--timeout=120000', `--parallel=${PROCESSES}`, '--no-isolate'];
  const child = Bun.spawn([...command, `--timings=${join(ROOT, 'service/test/timings.json')}`, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const onHang = () => {
    output.rest.push(`No test file has finished for ${HANG_MS / 1000} s. Killed the test processes.`);
    // Bun then reports the files of these processes, with their output, and continues with the other files.
    const children = Bun.spawnSync(['ps', '-A', '-o', 'pid=,ppid=']).stdout.toString().split('\n');
    for (const [pid, parent] of children.map((line) => line.trim().split(/ +/).map(Number)))
      if (parent === child.pid && pid !== undefined) process.kill(pid, 'SIGKILL');
  };
  let timer = setTimeout(onHang, HANG_MS);
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      clearTimeout(timer);
      timer = setTimeout(onHang, HANG_MS);
      output.add(decoder.decode(chunk, { stream: true }));
    }
  };
  await Promise.all([read(child.stdout), read(child.stderr)]);
  clearTimeout(timer);
  return child.exited;
}

/** Checks types and lint, and prints one line if they pass, or their whole output. */
async function check(): Promise<boolean> {
  const startedAt = performance.now();
  const { exitCode, stdout, stderr } = await Bun.$`npm run --silent check`.cwd(ROOT).quiet().nothrow();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(
    exitCode === 0
      ? `types and lint: passed, ${seconds} s\n`
      : `${stdout}${stderr}npm run check failed. No test was run.\n`,
  );
  return exitCode === 0;
}

/** Prepares what the test processes share, and returns their environment variables. */
async function prepare(
  tier: keyof typeof TIERS,
  cleanUp: AsyncDisposableStack,
): Promise<Record<string, string>> {
  if (tier === 'unit') return { TEST_DATABASES: 'SQLite' };
  const { installPrograms, lacks, PROGRAMS } = await import('../service/test/support/programs.ts');
  const { shareBrowser } = await import('../service/test/support/browser.ts');
  const { requireGenerators } = await import('../service/test/support/generators.ts');
  const { sharePostgres, stopPostgres } = await import('../service/test/support/postgres-server.ts');
  const { buildForThisMachine } = await import('../service/scripts/build-executable.ts');
  installPrograms(Object.values(PROGRAMS));
  if (tier === 'long') requireGenerators();
  // Not among the temporary files: programs in /dev/shm cannot always be run.
  const cache = join(ROOT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'offerbook-test-'));
  // Some tests run the executable as another user.
  chmodSync(folder, 0o755);
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  cleanUp.defer(stopPostgres);
  const [executable, database, browser] = await Promise.all([
    buildForThisMachine(folder),
    sharePostgres(),
    lacks('chromium') ? undefined : shareBrowser(),
  ]);
  cleanUp.defer(() => browser?.close());
  return {
    TEST_COMMAND: executable,
    TEST_POSTGRES: database,
    ...(browser && { TEST_BROWSER_ENDPOINT: browser.wsEndpoint() }),
  };
}

/** The end of the output: what failed, what was skipped on this machine, and the counts. */
async function summary(tier: keyof typeof TIERS, output: Output, code: number): Promise<string> {
  const { describeSkipped, PROGRAMS } = await import('../service/test/support/programs.ts');
  const failed = output.end(code !== 0);
  const failures = failed.flatMap(([path, lines]) =>
    lines.filter(isFailure).map((line) => `${path}: ${line}`),
  );
  const [passed, skipped] = [output.counted('pass'), output.counted('skip')];
  return [
    ...failed.flatMap(([path, lines]) => [
      '',
      `${path}:`,
      ...lines.filter((line) => !/^\((pass|skip)\)/.test(line)),
    ]),
    ...output.rest.filter((line) => code !== 0 && !SUMMARY.test(line)),
    ...(code === 0 || failures.length > 0 ? [''] : [`bun test exited with ${code}.`]),
    ...failures,
    ...(tier === 'unit' ? [] : describeSkipped(Object.values(PROGRAMS))),
    `${passed} passed, ${Math.max(output.counted('fail'), output.counted('errors?'))} failed, ${skipped} skipped`,
    '',
  ].join('\n');
}

const [, , name = '', ...args] = process.argv;
if (!Object.hasOwn(TIERS, name))
  throw new Error(`usage: run-tests.ts ${Object.keys(TIERS).join('|')} [option …]`);
const tier = name as keyof typeof TIERS;
const output = new Output();
await using cleanUp = new AsyncDisposableStack();
cleanUp.defer(leaveMemory);
const { options, paths } = TIERS[tier];
const narrowed = args.some((arg) => !arg.startsWith('-')) ? [] : paths;
const [env, isChecked] = await Promise.all([prepare(tier, cleanUp), tier === 'ordinary' ? check() : true]);
const code = isChecked ? await run([...options, ...narrowed, ...args], env, output) : 1;
if (isChecked) process.stdout.write(await summary(tier, output, code));
process.exitCode = code;
