// A database that can be killed, restarted and checked for damage.

import { Database as SqliteFile } from 'bun:sqlite';
import { join } from 'node:path';
import postgres from 'postgres';
import { temporaryFolder } from '../../support/databases.ts';
import { freezeAll, killAll, postgresProcesses } from '../../support/postgres-processes.ts';
import { removePostgres } from '../../support/postgres-replica.ts';
import { type PostgresServer, postgresUrl, startPostgres } from '../../support/postgres-server.ts';

export interface Machine extends AsyncDisposable {
  readonly databaseUrl: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  damage(): Promise<string[]>;
}

export function openMachine(name: 'SQLite' | 'PostgreSQL'): Promise<Machine> {
  return name === 'SQLite' ? openSqliteMachine() : openPostgresMachine();
}

/** SQLite runs inside the processes that use it, so there is no server to kill. */
async function openSqliteMachine(): Promise<Machine> {
  const databaseUrl = `sqlite:${join(temporaryFolder(), 'chaos.db')}`;
  return {
    databaseUrl,
    async kill() {},
    async start() {},
    async damage() {
      const file = new SqliteFile(databaseUrl.slice('sqlite:'.length));
      const answers = file.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all();
      file.close();
      return answers.map((answer) => answer.integrity_check).filter((answer) => answer !== 'ok');
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** A separate server with PostgreSQL's default durability settings. */
async function openPostgresMachine(): Promise<Machine> {
  const server = await startPostgres();
  const databaseUrl = postgresUrl(server.port, 'postgres');
  return {
    databaseUrl,
    kill: () => killPostgres(server),
    start: () => server.process.start(),
    async damage() {
      const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
      try {
        return await amcheck(sql);
      } finally {
        await sql.end();
      }
    },
    [Symbol.asyncDispose]: () => removePostgres(server),
  };
}

export async function killPostgres({ directory, process: server }: PostgresServer): Promise<void> {
  const all = postgresProcesses(directory);
  freezeAll(all);
  // Call stop() before the kill: it fails for a process that has already exited.
  await Promise.all([server.stop(), killAll(all)]);
}

/** Reads every index and every table row; amcheck throws for the first index that does not agree with its table. */
async function amcheck(sql: postgres.Sql): Promise<string[]> {
  await sql`CREATE EXTENSION IF NOT EXISTS amcheck`;
  const indexes = await sql<{ name: string }[]>`
    SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_am a ON a.oid = c.relam
     WHERE c.relkind = 'i' AND a.amname = 'btree' AND c.relpersistence = 'p'`;
  const damage: string[] = [];
  for (const { name } of indexes) {
    await sql`SELECT bt_index_parent_check(${name}::regclass, true, true)`.catch((error: Error) =>
      damage.push(`${name}: ${error.message}`),
    );
  }
  const rows = await sql<{ msg: string }[]>`SELECT msg FROM verify_heapam('transactions')`;
  return [...damage, ...rows.map(({ msg }) => msg)];
}
