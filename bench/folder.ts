// Temporary folders of the benchmarks.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newPostgresDatabase, stopPostgres } from '../service/test/support/postgres-server.ts';

/** Removes the folder, and stops the PostgreSQL server if the work started one. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'offerbook-bench-'));
  try {
    return await work(folder);
  } finally {
    await stopPostgres();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the URL of a new database in the folder, or on the PostgreSQL server. */
export async function newDatabase(kind: string, folder: string): Promise<string> {
  if (kind === 'postgres') return newPostgresDatabase();
  return `sqlite:${join(folder, `${crypto.randomUUID()}.db`)}`;
}
