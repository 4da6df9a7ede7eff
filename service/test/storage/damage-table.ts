// Damages an SQLite file by overwriting some of its pages, as a bad disk might. No process may have the file open.

import { Database } from 'bun:sqlite';
import { closeSync, openSync, writeSync } from 'node:fs';

/** Overwrites the pages whose numbers this statement selects. */
export function damagePages(path: string, sql: string): void {
  const file = new Database(path);
  const [size] = file.query('PRAGMA page_size').values()[0] as [number];
  file.run('PRAGMA wal_checkpoint(TRUNCATE)');
  const pages = file.query(sql).values().flat() as number[];
  file.close(true);
  const handle = openSync(path, 'r+');
  for (const page of pages) writeSync(handle, new Uint8Array(size).fill(0x5a), 0, size, (page - 1) * size);
  closeSync(handle);
}

export function damageTable(path: string, table: string): void {
  damagePages(path, `SELECT rootpage FROM sqlite_master WHERE name = '${table}'`);
}
