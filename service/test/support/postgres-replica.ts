// A streaming replica of a test's PostgreSQL, created from a copy of its files that is taken while it runs.

import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { $ } from 'bun';
import postgres from 'postgres';
import { PASSWORD, type PostgresServer, postgresUrl, prepareServer, USER } from './postgres-server.ts';
import { until } from './until.ts';

export async function startReplica(primary: PostgresServer, port?: number): Promise<PostgresServer> {
  const replica = await prepareServer(primary.flags, port);
  await copyData(primary, replica);
  const data = join(replica.directory, 'data');
  appendFileSync(
    join(data, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=${USER} password=${PASSWORD}'\n`,
  );
  writeFileSync(join(data, 'standby.signal'), '');
  // Poll the replica: its ready message differs from the one that the start function waits for.
  void replica.process.start().catch(() => {});
  await until(() =>
    query(replica, 'SELECT 1').then(
      () => true,
      () => false,
    ),
  );
  return replica;
}

/** Waits until the replica has replayed everything that the primary has committed by now. */
export async function untilCaughtUp(primary: PostgresServer, replica: PostgresServer): Promise<void> {
  const [position] = await query<{ lsn: string }>(primary, 'SELECT pg_current_wal_lsn()::text AS lsn');
  const sql = `SELECT pg_last_wal_replay_lsn() >= '${position?.lsn}'::pg_lsn AS done`;
  await until(async () => (await query<{ done: boolean }>(replica, sql))[0]?.done);
}

/** Runs one statement over a new connection. */
export async function query<Row>(server: PostgresServer, sql: string, database = 'postgres'): Promise<Row[]> {
  const connection = postgres(postgresUrl(server.port, database), { max: 1, onnotice: () => {} });
  try {
    return (await connection.unsafe(sql)) as unknown as Row[];
  } finally {
    await connection.end();
  }
}

/** Stops the server, primary or replica, and deletes its files. */
export async function removePostgres({ process: server, directory }: PostgresServer): Promise<void> {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
}

/** Does what pg_basebackup does, which is not part of the server package: copies between the two calls and adds the label. */
async function copyData(primary: PostgresServer, replica: PostgresServer): Promise<void> {
  const connection = postgres(postgresUrl(primary.port, 'postgres'), { max: 1, onnotice: () => {} });
  try {
    await connection`SELECT pg_backup_start('replica', fast => true)`;
    const data = join(replica.directory, 'data');
    // Keep the owner, which is another user if the tests run as root. The copy does not need files that vanish meanwhile.
    await $`cp -a ${join(primary.directory, 'data')} ${replica.directory}`.nothrow().quiet();
    const [backup] = await connection<
      { labelfile: string }[]
    >`SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)`;
    await $`rm -rf ${data}/postmaster.pid ${data}/postmaster.opts ${data}/pg_wal/archive_status ${data}/pg_replslot`;
    await $`mkdir -p ${data}/pg_wal/archive_status ${data}/pg_replslot`;
    writeFileSync(join(data, 'backup_label'), backup?.labelfile ?? '');
    await $`chown -R --reference=${data} ${data}`.quiet();
  } finally {
    await connection.end();
  }
}
