// A second process on the same database. As a program, this file runs the task that its first argument names and reports on
// stdout, one JSON value per line. As a module, it starts such a program and reads its reports.

import { SERVER_OPTIONS } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { upgradeDatabase } from '../../src/storage/upgrade-database.ts';
import { newIds, writeTransactions } from './open-test-stores.ts';

type Task = (url: string, ...args: string[]) => Promise<void>;

/** Number of transactions in each commit of `keep-writing`. */
export const ROWS_A_COMMIT = 50;

const TASKS = {
  /** Opens the database like a server, but creates it if it is missing, and closes it. */
  async open(url) {
    const stores = await openStores(url, { ...SERVER_OPTIONS, create: true });
    report(await stores.revisions());
    await stores.close();
  },
  /** Reports when it begins to upgrade the database, and when it has finished. */
  async migrate(url) {
    report('begun');
    report(await upgradeDatabase(url, { clock: Date.now, by: 'other process' }));
  },
  /** Commits until it is killed, and reports the ids of each commit afterwards. */
  async 'keep-writing'(url, orgId) {
    const stores = await openStores(url, COMMAND_OPTIONS);
    while (true) {
      const ids = newIds(ROWS_A_COMMIT);
      await writeTransactions(stores, Number(orgId), ids);
      report(ids);
    }
  },
} satisfies Record<string, Task>;

function report(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

export function startProcess(task: keyof typeof TASKS, ...args: string[]) {
  const child = Bun.spawn([process.execPath, import.meta.path, task, ...args], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const lines = readLines(child.stdout);
  return {
    child,
    /** The next report; undefined when the process has ended. */
    async next<T>(): Promise<T | undefined> {
      const { value } = await lines.next();
      return value === undefined ? undefined : JSON.parse(value);
    },
    /** All reports up to the end of the process, and its exit code. */
    async rest<T>() {
      const reports: T[] = [];
      for await (const line of lines) reports.push(JSON.parse(line) as T);
      return { reports, exitCode: await child.exited };
    },
  };
}

async function* readLines(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<string, undefined> {
  let rest = '';
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n');
    // A process that is killed may leave half a line behind.
    rest = lines.pop() ?? '';
    yield* lines;
  }
  return undefined;
}

if (import.meta.main) {
  const [task, ...args] = process.argv.slice(2);
  await (TASKS as Record<string, Task>)[task ?? '']?.(args[0] ?? '', ...args.slice(1));
}
