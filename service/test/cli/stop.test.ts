// Stopping a server: it exits within ten seconds, whatever it is doing.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { closing } from '../../src/storage/open-once.ts';
import { COMMAND_OPTIONS, CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { COMMAND, offerbook, ServerProcess, spawnOfferbook } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { offer, retailer } from '../support/fixtures.ts';
import { freezeAll, postgresProcesses } from '../support/postgres-processes.ts';
import { removePostgres } from '../support/postgres-replica.ts';
import { freePort, type PostgresServer, postgresUrl, startPostgres } from '../support/postgres-server.ts';
import { ndjson } from '../support/test-node.ts';
import { isOk, until } from '../support/until.ts';

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

function stopServer(server: ServerProcess): Promise<number | string> {
  const exited = Promise.withResolvers<number>();
  return stop({ kill: (signal) => void server.stop(signal).then(exited.resolve), exited: exited.promise });
}

/** Stops a server after its admin port responds, which happens before the catalogue is loaded. */
async function stopEarly(databaseUrl: string, workers: string): Promise<number | string> {
  const adminPort = String(await freePort());
  const args = ['serve', '--port', '0', '--admin-port', adminPort, '--workers', workers];
  const child = spawnOfferbook(args, { env: { OFFERBOOK_DATABASE_URL: databaseUrl } });
  await until(() => isOk(`http://127.0.0.1:${adminPort}/livez`));
  return stop(child);
}

test('a server that is loading a catalogue from SQLite exits on SIGTERM', async () => {
  const url = `sqlite:${join(temporaryFolder(), 'stop.db')}`;
  const stores = await openStores(url, CREATE_OPTIONS);
  const rows = Array.from({ length: 1_000 }, (_, i) =>
    retailer(i + 1, { cashbackOffers: Array.from({ length: 10 }, (_, j) => offer(10_000 + i * 10 + j)) }),
  );
  await importCatalogue(stores.catalogue, sourceFrom(ndjson(rows)), {});
  await stores.close();
  expect(await stopEarly(url, '1')).toBe(0);
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

  test('a server that is loading a catalogue exits on SIGTERM', async () => {
    const url = postgresUrl(postgres.port, 'postgres');
    await using database = closing(openDatabase(url, COMMAND_OPTIONS));
    await database.write(async (connection) => {
      await connection.all('LOCK TABLE retailers IN ACCESS EXCLUSIVE MODE');
      expect(await stopEarly(url, workers)).toBe(0);
    });
  });

  test('a frozen PostgreSQL does not delay a stop', async () => {
    await using server = await start();
    const wake = freezeAll(postgresProcesses(postgres.directory));
    try {
      expect(await stopServer(server)).toBe(0);
    } finally {
      wake();
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
    for (let i = 0; i < 500; i++) await fetch(url);
    expect(await stop(child)).toBe(0);
    reader.kill();
  });
});
