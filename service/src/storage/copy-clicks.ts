// Copies clicks into another database, after everything else is read: those that have led to no sale yet will find it
// there. May be repeated.

import { existsSync } from 'node:fs';
import type { ClickId } from '../domain/click.ts';
import { CLICKS, type Database, type SqlValue } from './database.ts';
import { CLICK_END, sqlitePath } from './open-database.ts';
import { CREATE_OPTIONS, clickDatabase } from './open-stores.ts';

const BATCH = 1_000;
const NAMES = CLICKS.columns.map(([name]) => name);
const BATCH_SQL = `SELECT ${NAMES.join(', ')} FROM clicks WHERE id > $1 ORDER BY id LIMIT ${BATCH}`;

export async function copyClicks(
  fromUrl: string,
  toUrl: string,
  onBatch: (rows: number) => void,
): Promise<number> {
  const path = sqlitePath(fromUrl);
  // Nobody has clicked yet, and the file is not made for looking.
  if (path !== undefined && !existsSync(`${path}${CLICK_END}`)) return 0;
  const [from, to] = [fromUrl, toUrl].map((url) => clickDatabase(url, CREATE_OPTIONS)) as [Lazy, Lazy];
  try {
    const source = await from.open();
    return (await hasClicks(source)) ? await copyClickRows(source, await to.open(), onBatch) : 0;
  } finally {
    await to.close();
    await from.close();
  }
}

type Lazy = ReturnType<typeof clickDatabase>;

export async function copyClickRows(
  source: Database,
  target: Database,
  onBatch: (rows: number) => void = () => {},
): Promise<number> {
  let [count, last] = [0, ''];
  while (true) {
    const rows = await source.all<Record<string, SqlValue> & { id: ClickId }>(BATCH_SQL, last);
    const values = rows.map((row) => NAMES.map((name) => row[name] ?? null));
    await target.write((connection) => connection.putMany(CLICKS, values));
    count += rows.length;
    onBatch(rows.length);
    const end = rows.at(-1);
    if (end === undefined || rows.length < BATCH) return count;
    last = end.id;
  }
}

/** A database from before the first release has none. */
async function hasClicks({ dialect, all }: Database): Promise<boolean> {
  if (dialect === 'sqlite') return true;
  const sql = `SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'clicks'`;
  return (await all(sql)).length > 0;
}
