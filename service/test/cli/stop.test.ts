// Stopping a server: it exits within ten seconds, whatever it is doing.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { COMMAND, offerbook, ServerProcess, spawnOfferbook } from '../support/command.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { offer, retailer } from '../support/fixtures.ts';
import { postgresProcesses, signalIfThere } from '../support/postgres-processes.ts';
import { removePostgres } from '../support/postgres-replica.ts';
import { freePort, type PostgresServer, postgresUrl, startPostgres } from '../support/postgres-server.ts';
import { ndjson } from '../support/test-node.ts';
import { until } from '../support/until.ts';

/** Ten seconds, plus an allowance for a busy machine. */
const STOPPED_WITHIN_MS = 30_000;

interface Stoppable {
  kill(signal: NodeJS.Signals): void;
  readonly exited: Promise<number>;
}

/** Stops a process; returns its exit code, or a message if it does not exit in time. */
async function stop(child: Stoppable): Promise<number | string> {
  child.kill('SIGTERM');
  const late = `still there after ${STOPPED_WITHIN_MS} ms`;
  const ended = await Promise.race([child.exited, Bun.sleep(STOPPED_WITHIN_MS).then(() => late)]);
  child.kill('SIGKILL');
  return ended;
}

function isOk(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

function stopServer(server: ServerProcess): Promise<number | string> {
  const exited = Promise.withResolvers<number>();
  return stop({ kill: (signal) => void server.stop(signal).then(exited.resolve), exited: exited.promise });
}

const CASES = DATABASES.flatMap((it) => ['1', '2'].map((workers) => [it.name, workers, it] as const));

describe.each(CASES)('on %s with --workers %s', (_, workers, { create }) => {
  test('a server that is loading a catalogue exits on SIGTERM', async () => {
    const env = { OFFERBOOK_DATABASE_URL: await create() };
    const rows = Array.from({ length: 4_000 }, (_, i) =>
      retailer(i + 1, { cashbackOffers: Array.from({ length: 10 }, (_, j) => offer(10_000 + i * 10 + j)) }),
    );
    expect((await offerbook(['import', 'catalogue', '-'], { env, stdin: ndjson(rows) })).code).toBe(0);
    const adminPort = String(await freePort());
    const child = spawnOfferbook(['serve', '--port', '0', '--admin-port', adminPort, '--workers', workers], {
      env,
    });
    // /livez responds before the catalogue is loaded.
    await until(() => isOk(`http://127.0.0.1:${adminPort}/livez`));
    expect(await stop(child)).toBe(0);
  });
});

describe.each(['1', '2'])('stopping with PostgreSQL and --workers %s', (workers) => {
  let postgres: PostgresServer;

  beforeAll(async () => {
    postgres = await startPostgres(['-c', 'fsync=off']);
    const env = { OFFERBOOK_DATABASE_URL: postgresUrl(postgres.port, 'postgres') };
    await offerbook(['orgs', 'create', 'acme'], { env });
  });
  afterAll(() => removePostgres(postgres));

  const start = () =>
    ServerProcess.start(['--workers', workers], {
      env: { OFFERBOOK_DATABASE_URL: postgresUrl(postgres.port, 'postgres') },
    });

  test('a frozen PostgreSQL does not delay a stop', async () => {
    await using server = await start();
    const processes = postgresProcesses(postgres.directory);
    for (const pid of processes) signalIfThere(pid, 'SIGSTOP');
    try {
      expect(await stopServer(server)).toBe(0);
    } finally {
      for (const pid of processes) signalIfThere(pid, 'SIGCONT');
    }
  });

  test('an unreachable PostgreSQL does not delay a stop', async () => {
    await using server = await start();
    await postgres.process.stop();
    try {
      expect(await stopServer(server)).toBe(0);
    } finally {
      await postgres.process.start();
    }
  });
});

describe.each(['1', '2'])('stopping with an unwritable log and --workers %s', (workers) => {
  async function serve(destination: string): Promise<{ child: Stoppable; url: string }> {
    const port = await freePort();
    const database = `sqlite:${join(temporaryFolder(), 'stop.db')}`;
    await offerbook(['orgs', 'create', 'acme', '--database', database]);
    const options = ['--port', String(port), '--database', database, '--log-level', 'debug'];
    const args = ['serve', ...options, '--workers', workers];
    const child = Bun.spawn(['/bin/sh', '-c', `exec "$0" "$@" ${destination}`, COMMAND, ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const url = `http://127.0.0.1:${port}/readyz`;
    await until(() => isOk(url));
    return { child, url };
  }

  test('a full log disk does not delay a stop', async () => {
    const { child } = await serve('> /dev/full');
    expect(await stop(child)).toBe(0);
  });

  test('a log pipe that is never read does not delay a stop', async () => {
    const pipe = join(temporaryFolder(), 'pipe');
    expect(await Bun.spawn(['mkfifo', pipe]).exited).toBe(0);
    // Opened for reading, so that writes succeed, but never read.
    const reader = Bun.spawn(['/bin/sh', '-c', 'exec sleep 60 < "$0"', pipe]);
    const { child, url } = await serve(`> '${pipe}'`);
    // More lines than fit into a pipe.
    for (let i = 0; i < 1_000; i++) await fetch(url);
    expect(await stop(child)).toBe(0);
    reader.kill();
  });
});
