// Copies clicks into another database, so that later sales can be matched to them there. copyClicks() can be repeated,
// because it first deletes the clicks in the target.

import type { Click, ClickId } from '../domain/click.ts';
import type { Database } from './database.ts';
import { closing } from './open-once.ts';
import { CREATE_OPTIONS, clickDatabase, READ_OPTIONS } from './open-stores.ts';
import { scan } from './scan.ts';
import { CLICKS } from './schema/tables.ts';
import { type ClickRow, toClick } from './stores/click-store.ts';

interface CopyClicksOptions {
  readonly onBatch?: (rows: number) => void;
  readonly isOurs?: (click: Click) => boolean;
}

export async function copyClicks(
  fromUrl: string,
  toUrl: string,
  options: CopyClicksOptions,
): Promise<number> {
  await using from = closing(clickDatabase(fromUrl, READ_OPTIONS));
  await using to = closing(clickDatabase(toUrl, CREATE_OPTIONS));
  await removeClicks(await to.open());
  return await copyClickRows(await from.open(), await to.open(), options);
}

/** Removes clicks left by an interrupted copy: in the source, they may since have been marked as sold, erased or purged. */
async function removeClicks(target: Database): Promise<void> {
  await scan<{ id: ClickId }>(target, { table: CLICKS, columns: 'id' }, async (batch) => {
    const ids = batch.map(({ id }) => id);
    await target.write((connection) => connection.deleteMany(CLICKS, ids));
  });
  await target.emptyLog();
}

export async function copyClickRows(
  source: Database,
  target: Database,
  { onBatch = () => {}, isOurs = () => true }: CopyClicksOptions = {},
): Promise<number> {
  let count = 0;
  await scan<ClickRow>(source, { table: CLICKS }, async (rows) => {
    const batch = rows.filter((row) => isOurs(toClick(row)));
    await target.write((connection) => connection.putMany(CLICKS, batch));
    count += batch.length;
    onBatch(batch.length);
  });
  return count;
}
