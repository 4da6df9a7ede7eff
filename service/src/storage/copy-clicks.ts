// Copies clicks into another database, after everything else is read: those that have led to no sale yet will find it
// there. May be repeated: clicks that are in the other database already go.

import { existsSync } from 'node:fs';
import type { ClickId } from '../domain/click.ts';
import { CLICKS, columnsOf, type Database, type TableRow } from './database.ts';
import { CLICK_END, sqlitePath } from './open-database.ts';
import { CREATE_OPTIONS, clickDatabase } from './open-stores.ts';
import { emptyLog } from './sqlite/overwrite-deleted.ts';

const BATCH = 1_000;

export async function copyClicks(
  fromUrl: string,
  toUrl: string,
  onBatch: (rows: number) => void,
): Promise<number> {
  const [from, to] = [fromUrl, toUrl].map((url) => clickDatabase(url, CREATE_OPTIONS)) as [Lazy, Lazy];
  try {
    if (hasPlace(toUrl)) await removeClicks(await to.open());
    if (!hasPlace(fromUrl)) return 0;
    return await copyClickRows(await from.open(), await to.open(), onBatch);
  } finally {
    await to.close();
    await from.close();
  }
}

type Lazy = ReturnType<typeof clickDatabase>;

/** On SQLite, the first click makes the file, which is not made for looking. */
function hasPlace(url: string): boolean {
  const path = sqlitePath(url);
  return path === undefined || existsSync(`${path}${CLICK_END}`);
}

/** A copy that broke off may have left some. They have been sold, erased or purged since, for all we know. */
async function removeClicks(target: Database): Promise<void> {
  for await (const rows of readClicks<{ id: ClickId }>(target, 'id')) {
    const ids = rows.map(({ id }) => id);
    await target.write((connection) => connection.deleteMany(CLICKS, ids));
  }
  await emptyLog(target);
}

export async function copyClickRows(
  source: Database,
  target: Database,
  onBatch: (rows: number) => void = () => {},
): Promise<number> {
  let count = 0;
  type Row = TableRow<keyof typeof CLICKS.columns> & { id: ClickId };
  for await (const rows of readClicks<Row>(source, columnsOf(CLICKS).join(', '))) {
    await target.write((connection) => connection.putMany(CLICKS, rows));
    count += rows.length;
    onBatch(rows.length);
  }
  return count;
}

async function* readClicks<Row extends { readonly id: ClickId }>(
  database: Database,
  columns: string,
): AsyncGenerator<Row[]> {
  const sql = `SELECT ${columns} FROM clicks WHERE id > $1 ORDER BY id LIMIT ${BATCH}`;
  let last = '';
  while (true) {
    const rows = await database.all<Row>(sql, last);
    const end = rows.at(-1);
    if (end === undefined) return;
    yield rows;
    last = end.id;
  }
}
