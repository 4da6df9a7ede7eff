// npm run test:webhooks: the nemesis of webhooks with two server processes, which are stopped, killed and frozen.
//   npm run test:webhooks -- [--minutes 1] [--seed 42] [--database sqlite]

import { parseArgs } from 'node:util';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { ServerProcess } from '../support/command.ts';
import { DATABASES, removeTemporaryFolders } from '../support/databases.ts';
import { stopPostgres } from '../support/postgres-server.ts';
import { runNemesis } from './nemesis.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    database: { type: 'string' },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
/** Longer than a lease, so that another node takes over. */
const TAKEOVER_MS = 28_000;

class Node {
  readonly #url: string;
  #process: ServerProcess | undefined;

  constructor(databaseUrl: string) {
    this.#url = databaseUrl;
  }

  async start(): Promise<void> {
    this.#process = await ServerProcess.start([
      '--database',
      this.#url,
      '--webhook-networks',
      '127.0.0.1/32',
    ]);
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async kill(): Promise<void> {
    await this.#process?.stop('SIGKILL');
    await this.start();
    await Bun.sleep(TAKEOVER_MS);
  }

  async freeze(): Promise<void> {
    const pid = this.#process?.pid ?? 0;
    process.kill(pid, 'SIGSTOP');
    await Bun.sleep(TAKEOVER_MS);
    process.kill(pid, 'SIGCONT');
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  get errors(): string[] {
    return this.#process?.logLines.filter((line) => line.startsWith('{"level":50')) ?? [];
  }
}

let isBroken = false;
try {
  for (const database of DATABASES) {
    if (!database.name.toLowerCase().startsWith(values.database ?? '')) continue;
    const url = await database.create();
    const stores = await openStores(url, CREATE_OPTIONS);
    const nodes = [new Node(url), new Node(url)];
    for (const node of nodes) await node.start();
    const sabotages = Object.fromEntries(
      nodes.flatMap((node, i) => [
        [`node ${i} restarted`, () => node.restart()],
        [`node ${i} killed`, () => node.kill()],
        [`node ${i} frozen`, () => node.freeze()],
      ]),
    );
    const report = await runNemesis({
      ...{ stores, seed, durationMs: Number(values.minutes) * 60_000, sabotages },
      ...{ pauseMs: 700, hangMs: 14_000, slowMs: 2_000, settleMaxMs: 90_000 },
      async hurry() {
        for (const { id, failures } of await stores.webhooks.list())
          if (failures > 0) await stores.webhooks.resume(id);
      },
    });
    const { counts, ...faults } = report;
    process.stdout.write(`${database.name}, seed ${seed}, ${values.minutes} minutes\n`);
    for (const [what, count] of Object.entries({ ...counts, ...faults }))
      process.stdout.write(`  ${what.padEnd(26)} ${count}\n`);
    const errors = nodes.flatMap((node) => node.errors);
    for (const line of errors) process.stdout.write(`  ${line}\n`);
    isBroken ||= Object.values(faults).some((count) => count > 0) || errors.length > 0;
    await Promise.all(nodes.map((node) => node.stop()));
    await stores.close();
  }
} finally {
  await stopPostgres();
  removeTemporaryFolders();
}
process.exit(isBroken ? 1 : 0);
