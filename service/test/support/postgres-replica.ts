// A streaming replica of a test's PostgreSQL: a copy of its files, taken while it runs, that then follows it.

import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { $ } from 'bun';
import postgres from 'postgres';
import { PASSWORD, type PostgresServer, postgresUrl, prepareServer, USER } from './postgres-server.ts';

export async function startReplica(primary: PostgresServer): Promise<PostgresServer> {
  const replica = await prepareServer(primary.flags);
  await copyData(primary, replica);
  const data = join(replica.directory, 'data');
  appendFileSync(
    join(data, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=${USER} password=${PASSWORD}'\n`,
  );
  writeFileSync(join(data, 'standby.signal'), '');
  // It reports to be ready in other words than its starter waits for, so that it must be asked.
  void replica.process.start().catch(() => {});
  await untilAnswering(replica);
  return replica;
}

/** Waits until the replica has replayed everything that the primary has committed by now. */
export async function untilCaughtUp(primary: PostgresServer, replica: PostgresServer): Promise<void> {
  const [position] = await query<{ lsn: string }>(primary, 'SELECT pg_current_wal_lsn()::text AS lsn');
  const sql = `SELECT pg_last_wal_replay_lsn() >= '${position?.lsn}'::pg_lsn AS done`;
  while ((await query<{ done: boolean }>(replica, sql))[0]?.done !== true) await Bun.sleep(10);
}

/** One statement on the server's own database, over a connection of its own. */
export async function query<Row>(server: PostgresServer, sql: string): Promise<Row[]> {
  const connection = postgres(postgresUrl(server.port, 'postgres'), { max: 1, onnotice: () => {} });
  try {
    return (await connection.unsafe(sql)) as unknown as Row[];
  } finally {
    await connection.end();
  }
}

/** Ends the server, replica or not, and removes its files. */
export async function removePostgres({ process: server, directory }: PostgresServer): Promise<void> {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
}

/** The way of pg_basebackup, which does not come with the server: copy between the two calls, add the label. */
async function copyData(primary: PostgresServer, replica: PostgresServer): Promise<void> {
  const connection = postgres(postgresUrl(primary.port, 'postgres'), { max: 1, onnotice: () => {} });
  try {
    await connection`SELECT pg_backup_start('replica', fast => true)`;
    const data = join(replica.directory, 'data');
    // Keeps the owner, who is not us when we are root. A file that goes away meanwhile is of no use to the copy.
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

async function untilAnswering(server: PostgresServer): Promise<void> {
  const isAnswering = () =>
    query(server, 'SELECT 1').then(
      () => true,
      () => false,
    );
  while (!(await isAnswering())) await Bun.sleep(20);
}
