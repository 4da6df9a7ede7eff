// Copies clicks into another database, after everything else is read: those that have led to no sale yet will find it
// there. May be repeated: clicks that are in the other database already go.

import { existsSync } from 'node:fs';
import type { Click, ClickId } from '../domain/click.ts';
import { CLICKS, columnsOf, type Database, type TableRow } from './database.ts';
import { CLICK_END, sqlitePath } from './open-database.ts';
import { closing } from './open-once.ts';
import { CREATE_OPTIONS, clickDatabase, READ_OPTIONS } from './open-stores.ts';
import { type ClickRow, toClick } from './stores/click-store.ts';
import { type BatchQuery, readBatches } from './stores/read-batches.ts';

export async function copyClicks(
  fromUrl: string,
  toUrl: string,
  onBatch: (rows: number) => void,
): Promise<number> {
  await using from = closing(clickDatabase(fromUrl, READ_OPTIONS));
  await using to = closing(clickDatabase(toUrl, CREATE_OPTIONS));
  if (hasPlace(toUrl)) await removeClicks(await to.open());
  return await copyClickRows(await from.open(), await to.open(), { onBatch });
}

/** On SQLite, the first click makes the file, which is not made for looking. */
function hasPlace(url: string): boolean {
  const path = sqlitePath(url);
  return path === undefined || existsSync(`${path}${CLICK_END}`);
}

/** A copy that broke off may have left some. They have been sold, erased or purged since, for all we know. */
async function removeClicks(target: Database): Promise<void> {
  await readBatches<{ id: ClickId }>(target, allClicks('id'), async (batch) => {
    const ids = batch.map(({ id }) => id);
    await target.write((connection) => connection.deleteMany(CLICKS, ids));
  });
  await target.emptyLog();
}

export async function copyClickRows(
  source: Database,
  target: Database,
  {
    onBatch = () => {},
    isOurs = () => true,
  }: { onBatch?: (rows: number) => void; isOurs?: (click: Click) => boolean } = {},
): Promise<number> {
  let count = 0;
  type Row = TableRow<keyof typeof CLICKS.columns> & ClickRow;
  await readBatches<Row>(source, allClicks(columnsOf(CLICKS).join(', ')), async (rows) => {
    const batch = rows.filter((row) => isOurs(toClick(row)));
    await target.write((connection) => connection.putMany(CLICKS, batch));
    count += batch.length;
    onBatch(batch.length);
  });
  return count;
}

const allClicks = (columns: string): BatchQuery => ({
  sql: `SELECT ${columns} FROM clicks WHERE id >= $1 ORDER BY id`,
  params: [],
  batchSize: 1_000,
});
