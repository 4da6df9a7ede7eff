// Clicks and taps, in the database or in the spool.

import { textProblem } from '@offerbook/wire/text.ts';
import {
  type Click,
  type ClickCount,
  type ClickId,
  type ClickOwner,
  type ClickStore,
  firstClickIdAt,
  TAP_MS,
  type Tap,
} from '../../domain/click.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Connection, Database } from '../database.ts';
import type { OpenOnce } from '../open-once.ts';
import { scan } from '../scan.ts';
import { columnsOf, type RowOf } from '../schema/table.ts';
import { CLICKS } from '../schema/tables.ts';
import type { Statement } from '../sql.ts';

/** Other writers hold their locks only briefly: while recording clicks, or for one batch of a purge. */
const LOCK_TIMEOUT_MS = 1_000;
/** Number of clicks deleted per transaction; small, so that recording a click does not wait long. */
const PURGE_BATCH = 1_000;
/** Longer than necessary, so that a node with a fast clock does not delete taps that other nodes need. */
const EXPIRE_TAPS_MS = 6 * TAP_MS;
const EXPIRE_TAPS_MAX = 1_000;

/** Stored in place of an erased passbackUid. A passbackUid that was not erased is never empty. */
const ERASED = '';

export type ClickRow = RowOf<typeof CLICKS>;

const COLUMNS = columnsOf(CLICKS).join(', ');

/** $2 and $3: the current time minus and plus TAP_MS. A tap stamped by a fast clock must not suppress later clicks. */
const IS_RECENT = 'taps.at > $2 AND taps.at < $3';

/** A recent tap keeps its click; an older one is replaced. $1: a list of [key, click id, time]. */
const TAP_SQL: Statement = (sql) => `
  INSERT INTO taps (key, click_id, at) ${sql.selectRows('$1', ['text', 'text', 'bigint'])} ON CONFLICT (key) DO UPDATE SET
     click_id = CASE WHEN ${IS_RECENT} THEN taps.click_id ELSE excluded.click_id END,
     at = CASE WHEN ${IS_RECENT} THEN taps.at ELSE excluded.at END
   RETURNING key, click_id`;

/** Skips locked rows, so that two nodes never wait for each other. */
const EXPIRE_TAPS_SQL: Statement = (sql) =>
  sql.deleteRows(
    'taps',
    'key',
    `WHERE at < $1 ORDER BY at LIMIT ${EXPIRE_TAPS_MAX} ${sql.forUpdateSkipLocked}`,
  );

/** The next batch of a purge: ids from $1 (inclusive) to $2 (exclusive). */
const PURGE_BATCH_SQL = `SELECT id FROM clicks WHERE id >= $1 AND id < $2 AND has_sale = 0 ORDER BY id LIMIT ${PURGE_BATCH}`;

/**
 * Waits for any import that is marking clicks in this batch as sold; those clicks are kept. Imports also lock clicks in order of
 * id, so the two cannot deadlock.
 */
const LOCK_BATCH_SQL: Statement = ({ forUpdate }) =>
  `SELECT max(id) AS last FROM (${PURGE_BATCH_SQL} ${forUpdate}) AS batch`;

const PURGE_SQL: Statement = ({ isOneOf }) =>
  `DELETE FROM clicks WHERE id ${isOneOf(PURGE_BATCH_SQL)} RETURNING id`;

/** A condition with the parameter of the order before it. */
const ofOwner = ({ passbackUid }: ClickOwner) =>
  `org_id = $2${passbackUid === undefined ? '' : ' AND passback_uid = $3'}`;

const valuesOf = ({ orgId, passbackUid }: ClickOwner) =>
  passbackUid === undefined ? [orgId] : [orgId, passbackUid];

/**
 * Links reject NUL and lone surrogates, so no click contains them. PostgreSQL would reject NUL and store a lone surrogate as a
 * different user.
 */
const canHaveClicks = ({ passbackUid = '' }: ClickOwner) => textProblem(passbackUid) === undefined;

/** Ids sort by time, so this reads a range of the primary key. */
const COUNT_SQL = `SELECT org_id AS "orgId", retailer_id AS "retailerId",
    count(*) AS clicks, sum(is_tracked) AS tracked, sum(has_sale) AS sold
  FROM clicks WHERE id >= $1 AND id < $2 GROUP BY org_id, retailer_id ORDER BY org_id, retailer_id`;

export function clickStore(database: OpenOnce<Database>, clock: Clock): ClickStore {
  async function write<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return (await database.open()).write(work, LOCK_TIMEOUT_MS);
  }

  /** Finds clicks without a lock and changes them in batches, each of which holds a lock briefly. */
  async function changeAll(
    owner: ClickOwner,
    onBatch: (count: number) => void = () => {},
    change: (connection: Connection, ids: readonly ClickId[]) => Promise<void>,
  ): Promise<number> {
    if (!canHaveClicks(owner)) return 0;
    const opened = await database.open();
    const query = { table: CLICKS, columns: 'id', where: ofOwner(owner), params: valuesOf(owner) };
    let count = 0;
    await scan<{ id: ClickId }>(opened, query, async (batch) => {
      const ids = batch.map(({ id }) => id);
      await write((connection) => change(connection, ids));
      count += ids.length;
      onBatch(count);
    });
    await opened.emptyLog();
    return count;
  }

  return {
    record: (taps) =>
      write(async (connection) => {
        const nowMs = clock();
        const firsts = await findFirsts(connection, taps, nowMs);
        const ids = taps.map(({ click, key }) => firsts.get(key) ?? click.id);
        await put(
          connection,
          taps.flatMap(({ click }, i) => (click.id === ids[i] ? [click] : [])),
        );
        await connection.all(EXPIRE_TAPS_SQL, nowMs - EXPIRE_TAPS_MS);
        return ids;
      }),
    put: (clicks) => write((connection) => put(connection, clicks)),
    async find(ids) {
      const rows = await (await database.open()).read((connection) => connection.findMany(CLICKS, ids));
      return new Map(rows.map(toClick).map((click) => [click.id, click]));
    },
    async list(limit) {
      const opened = await database.open();
      return (await opened.all<ClickRow>(`SELECT ${COLUMNS} FROM clicks ORDER BY id LIMIT $1`, limit)).map(
        toClick,
      );
    },
    async countBetween(fromMs, untilMs) {
      const opened = await database.open();
      return opened.all<ClickCount>(COUNT_SQL, firstClickIdAt(fromMs), firstClickIdAt(untilMs));
    },
    remove: (clicks) =>
      write(async (connection) => {
        for (const { id, clickedAtMs } of clicks) {
          await connection.all(
            'DELETE FROM clicks WHERE id = $1 AND coalesce(clicked_at, 0) = $2',
            id,
            clickedAtMs ?? 0,
          );
        }
      }),
    emptyLog: async () => (await database.open()).emptyLog(),
    markSold: (ids) =>
      write(async (connection) => {
        // Marks clicks in order of id, so that two imports cannot deadlock.
        for (const id of ids.toSorted())
          await connection.all('UPDATE clicks SET has_sale = 1 WHERE id = $1 AND has_sale = 0', id);
      }),
    async purge(beforeMs, onBatch = () => {}) {
      let count = 0;
      // Each batch starts where the last one ended, so that clicks with a sale are not read again.
      let from: string | null = '';
      while (from !== null) {
        from = await write(async (connection) => {
          const range = [from, firstClickIdAt(beforeMs)];
          const [batch] = await connection.all<{ last: string | null }>(LOCK_BATCH_SQL, ...range);
          if (batch?.last == null) return null;
          count += (await connection.all(PURGE_SQL, ...range)).length;
          return batch.last;
        });
        if (from !== null) onBatch(count);
      }
      await (await database.open()).emptyLog();
      return count;
    },
    async countOf(owner) {
      if (!canHaveClicks(owner)) return 0;
      const opened = await database.open();
      const [row] = await opened.all<{ count: number }>(
        `SELECT count(*) AS count FROM clicks WHERE id >= $1 AND ${ofOwner(owner)}`,
        '',
        ...valuesOf(owner),
      );
      return row?.count ?? 0;
    },
    erase: (owner, onBatch) =>
      changeAll(owner, onBatch, async (connection, ids) => {
        for (const id of ids) {
          await connection.all(
            'UPDATE clicks SET passback_uid = $2, passback_data = NULL WHERE id = $1',
            id,
            ERASED,
          );
        }
      }),
    deleteOf: (orgId, onBatch) =>
      changeAll({ orgId }, onBatch, (connection, ids) => connection.deleteMany(CLICKS, ids)),
    close: () => database.close(),
  };
}

/** Returns the first click of each tap key. Locks taps in order of key, so that two nodes cannot deadlock. */
async function findFirsts(
  connection: Connection,
  taps: readonly Tap[],
  nowMs: number,
): Promise<Map<string, ClickId>> {
  const sorted = taps.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const list = sorted.map(({ key, click }) => [key, click.id, click.activatedAtMs]);
  const rows = await connection.all<{ key: string; click_id: ClickId }>(
    TAP_SQL,
    JSON.stringify(list),
    nowMs - TAP_MS,
    nowMs + TAP_MS,
  );
  return new Map(rows.map((row) => [row.key, row.click_id]));
}

async function put(connection: Connection, clicks: readonly Click[]): Promise<void> {
  if (clicks.length === 0) return;
  // Inserts in order of id, so that two nodes cannot deadlock.
  const sorted = clicks.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  await connection.putMany(CLICKS, sorted.map(toRow));
}

function toRow(click: Click): ClickRow {
  return {
    id: click.id,
    org_id: click.orgId,
    kind: click.kind,
    deal_id: click.dealId,
    retailer_id: click.retailerId,
    passback_uid: click.passbackUid ?? ERASED,
    passback_data: click.passbackData,
    activated_at: click.activatedAtMs,
    clicked_at: click.clickedAtMs,
    is_tracked: click.isTracked ? 1 : 0,
    has_sale: 0,
  };
}

export function toClick(row: ClickRow): Click {
  return {
    id: row.id as ClickId,
    orgId: row.org_id,
    kind: row.kind as Click['kind'],
    dealId: row.deal_id,
    retailerId: row.retailer_id,
    passbackUid: row.passback_uid === ERASED ? null : row.passback_uid,
    passbackData: row.passback_data,
    activatedAtMs: row.activated_at,
    clickedAtMs: row.clicked_at,
    isTracked: row.is_tracked === 1,
  };
}
