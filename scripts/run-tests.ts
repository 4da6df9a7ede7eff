// npm test, npm run test:long and npm run test:unit: run the test files of a tier in parallel processes, the slowest first.
// npm test first checks types and lint, while it prepares the tests. Further arguments (paths, options) go to `bun test`.
// The processes share a PostgreSQL server, a browser and the built executable, which starts faster than the sources and is what
// users run. Prints a line per file, the output of failed tests, Bun's summary, the failed tests, and the missing programs.

import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
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

/** A process is killed if no file has finished for this long. Each test has a limit of two minutes. */
const HANG_MS = Number(process.env.TEST_HANG_SECONDS ?? 600) * 1000;
/** More processes than cores, because many tests wait. */
const PROCESSES = 2 * availableParallelism();

/** The line that the preload prints when a file has finished, and Bun's summary. */
const REPORT = /^\S+\.test\.ts: [\d.]+ s$|^ *\d+ (pass|skip|fail|errors?|expect\(\) calls)$|^Ran \d/;
const FAILED = /^\(fail\)|^# Unhandled error|^✗ /;

/**
 * Runs the tests, and kills them if they hang. Prints the header of a file only if the file has output, and repeats the names of
 * failed tests at the end. Returns the exit code.
 */
async function run(args: readonly string[], env: Record<string, string>): Promise<number> {
  const command = [process.execPath, 'test', '--timeout=120000', `--parallel=${PROCESSES}`, '--no-isolate'];
  const timings = `--timings=${join(ROOT, 'service/test/timings.json')}`;
  const child = Bun.spawn([...command, '--only-failures', timings, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const onHang = () => {
    process.stderr.write(`No test file has finished for ${HANG_MS / 1000} s. Killed the test processes.\n`);
    // Bun then reports the files of these processes, with their output, and continues with the other files.
    const children = Bun.spawnSync(['ps', '-A', '-o', 'pid=,ppid=']).stdout.toString().split('\n');
    for (const [pid, parent] of children.map((line) => line.trim().split(/ +/).map(Number)))
      if (parent === child.pid && pid !== undefined) process.kill(pid, 'SIGKILL');
  };
  let timer = setTimeout(onHang, HANG_MS);
  const failures: string[] = [];
  let path = '';
  let header = '';
  for await (const line of createInterface({ input: Readable.fromWeb(child.stderr as never) })) {
    clearTimeout(timer);
    timer = setTimeout(onHang, HANG_MS);
    const [, named] = /^(\S+\.test\.ts):$/.exec(line) ?? [];
    if (named !== undefined) {
      path = named;
      header = `\n${line}\n`;
    } else if (REPORT.test(line)) {
      process.stderr.write(`${line}\n`);
    } else if (line !== '') {
      process.stderr.write(`${header}${line}\n`);
      header = '';
    }
    if (FAILED.test(line)) failures.push(`${path}: ${line}\n`);
  }
  clearTimeout(timer);
  process.stderr.write(failures.join(''));
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

const [, , name = '', ...args] = process.argv;
if (!Object.hasOwn(TIERS, name))
  throw new Error(`usage: run-tests.ts ${Object.keys(TIERS).join('|')} [option …]`);
const tier = name as keyof typeof TIERS;
await using cleanUp = new AsyncDisposableStack();
cleanUp.defer(leaveMemory);
const { options, paths } = TIERS[tier];
const narrowed = args.some((arg) => !arg.startsWith('-')) ? [] : paths;
const [env, isChecked] = await Promise.all([prepare(tier, cleanUp), tier === 'ordinary' ? check() : true]);
process.exitCode = isChecked ? await run([...options, ...narrowed, ...args], env) : 1;
if (isChecked && tier !== 'unit') {
  const { describeSkipped, PROGRAMS } = await import('../service/test/support/programs.ts');
  for (const line of describeSkipped(Object.values(PROGRAMS))) process.stdout.write(`${line}\n`);
}
