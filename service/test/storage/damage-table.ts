// Damages one table of an SQLite file by overwriting its root page, as a bad disk might. No process may have the file open.

import { Database } from 'bun:sqlite';
import { closeSync, openSync, writeSync } from 'node:fs';

export function damageTable(path: string, table: string): void {
  const file = new Database(path);
  const [root] = file.query('SELECT rootpage FROM sqlite_master WHERE name = $1').values(table)[0] as [
    number,
  ];
  const [size] = file.query('PRAGMA page_size').values()[0] as [number];
  file.run('PRAGMA wal_checkpoint(TRUNCATE)');
  file.close(true);
  const handle = openSync(path, 'r+');
  writeSync(handle, new Uint8Array(size).fill(0x5a), 0, size, (root - 1) * size);
  closeSync(handle);
}
