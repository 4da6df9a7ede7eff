// Clicks and taps. The same on both databases, and in the spool.

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
import { CLICKS, type Connection, columnsOf, type Database } from '../database.ts';
import type { OpenOnce } from '../open-once.ts';
import { forUpdate, inBoth, isOneOf } from '../sql-dialect.ts';
import { emptyLog } from '../sqlite/overwrite-deleted.ts';
import { readBatches } from './read-batches.ts';

/** Others hold locks for a moment only: to record clicks, or a batch of a purge. */
const LOCK_TIMEOUT_MS = 1_000;
/** How many clicks one statement of a purge deletes, so that nobody who clicks waits for long. */
const PURGE_BATCH = 1_000;
/** Taps are forgotten later than needed, so that no node whose clock is ahead deletes what others go by. */
const FORGET_TAPS_MS = 6 * TAP_MS;
const FORGET_TAPS_MAX = 1_000;

/** In the place of a passbackUid, which is never empty. */
const ERASED = '';

export interface ClickRow {
  readonly id: ClickId;
  readonly org_id: number;
  readonly kind: Click['kind'];
  readonly deal_id: Click['dealId'];
  readonly retailer_id: Click['retailerId'];
  readonly passback_uid: string;
  readonly passback_data: string | null;
  readonly activated_at: number;
  readonly clicked_at: number | null;
  readonly is_tracked: number;
}

const COLUMNS = columnsOf(CLICKS).join(', ');

/** The rows of a JSON list of lists: $1. */
const TAPS = {
  sqlite: 'SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each($1) WHERE true',
  postgres:
    'SELECT value ->> 0, value ->> 1, (value ->> 2)::bigint FROM json_array_elements($1::text::json) AS v',
};

/** $2 and $3: now, less and plus the time of a double tap. A tap of a clock that was far ahead must hide no click. */
const IS_RECENT = 'taps.at > $2 AND taps.at < $3';

/** A tap that is recent enough keeps its click; else it is this click's from now on. */
const TAP_SQL = inBoth(
  (dialect) => `INSERT INTO taps (key, click_id, at) ${TAPS[dialect]} ON CONFLICT (key) DO UPDATE SET
     click_id = CASE WHEN ${IS_RECENT} THEN taps.click_id ELSE excluded.click_id END,
     at = CASE WHEN ${IS_RECENT} THEN taps.at ELSE excluded.at END
   RETURNING key, click_id`,
);

const FORGET_TAPS_SQL = {
  sqlite: `DELETE FROM taps WHERE key IN (SELECT key FROM taps WHERE at < $1 ORDER BY at LIMIT ${FORGET_TAPS_MAX})`,
  // Skipping what is locked: two nodes never wait for each other.
  postgres: `DELETE FROM taps WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM taps WHERE at < $1 ORDER BY at LIMIT ${FORGET_TAPS_MAX} FOR UPDATE SKIP LOCKED
  ))`,
};

/** Those that go with the next batch of a purge. $1: an id to begin at; $2: one before which they end. */
const PURGE_BATCH_SQL = `SELECT id FROM clicks WHERE id >= $1 AND id < $2 AND has_sale = 0 ORDER BY id LIMIT ${PURGE_BATCH}`;

/** Waits for an import that is marking some of them as sold, which then stay. Imports go by their ids, too. */
const LOCK_BATCH_SQL = inBoth(
  (dialect) => `SELECT max(id) AS last FROM (${PURGE_BATCH_SQL} ${forUpdate(dialect)}) AS batch`,
);

const PURGE_SQL = inBoth(
  (dialect) => `DELETE FROM clicks WHERE id ${isOneOf(dialect, PURGE_BATCH_SQL)} RETURNING id`,
);

const ofOwner = ({ passbackUid }: ClickOwner) =>
  `FROM clicks WHERE id >= $1 AND org_id = $2${passbackUid === undefined ? '' : ' AND passback_uid = $3'}`;

const valuesOf = ({ orgId, passbackUid }: ClickOwner) =>
  passbackUid === undefined ? [orgId] : [orgId, passbackUid];

/**
 * Transactions from before imports refused it may have a passbackUid with NUL or half a surrogate pair; no link can. The
 * first fails on PostgreSQL, and the second would be taken for somebody else.
 */
const canHaveClicks = ({ passbackUid = '' }: ClickOwner) => textProblem(passbackUid) === undefined;

/** Ids are in the order of time, so that the primary key serves. */
const COUNT_SQL = `SELECT org_id AS "orgId", retailer_id AS "retailerId",
    count(*) AS clicks, sum(is_tracked) AS tracked, sum(has_sale) AS sold
  FROM clicks WHERE id >= $1 AND id < $2 GROUP BY org_id, retailer_id ORDER BY org_id, retailer_id`;

/** A file of SQLite's is one that overwrites what is deleted. */
export function clickStore(database: OpenOnce<Database>, clock: Clock): ClickStore {
  async function write<T>(work: (connection: Connection, database: Database) => Promise<T>): Promise<T> {
    const opened = await database.open();
    return opened.write((connection) => work(connection, opened), LOCK_TIMEOUT_MS);
  }

  /** Finds clicks without a lock, and changes them in batches that hold one for a moment. */
  async function changeAll(
    owner: ClickOwner,
    onBatch: (count: number) => void = () => {},
    change: (connection: Connection, ids: readonly ClickId[]) => Promise<void>,
  ): Promise<number> {
    if (!canHaveClicks(owner)) return 0;
    const opened = await database.open();
    const sql = `SELECT id ${ofOwner(owner)} ORDER BY id`;
    const query = { sql, params: valuesOf(owner), batchSize: PURGE_BATCH };
    let count = 0;
    await readBatches<{ id: ClickId }>(opened, query, async (batch) => {
      const ids = batch.map(({ id }) => id);
      await write((connection) => change(connection, ids));
      count += ids.length;
      onBatch(count);
    });
    await emptyLog(opened);
    return count;
  }

  return {
    record: (taps) =>
      write(async (connection, { dialect }) => {
        const nowMs = clock();
        const firsts = await findFirsts(connection, dialect, taps, nowMs);
        const ids = taps.map(({ click, key }) => firsts.get(key) ?? click.id);
        await put(
          connection,
          taps.flatMap(({ click }, i) => (click.id === ids[i] ? [click] : [])),
        );
        await connection.all(FORGET_TAPS_SQL[dialect], nowMs - FORGET_TAPS_MS);
        return ids;
      }),
    put: (clicks) => write((connection) => put(connection, clicks)),
    async find(ids) {
      const rows = await (await database.open()).read((connection) =>
        connection.findMany<ClickRow>(CLICKS, ids),
      );
      return new Map(rows.map((row) => [row.id, toClick(row)]));
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
    emptyLog: async () => emptyLog(await database.open()),
    markSold: (ids) =>
      write(async (connection) => {
        // In one order, so that two imports never wait for each other.
        for (const id of ids.toSorted())
          await connection.all('UPDATE clicks SET has_sale = 1 WHERE id = $1 AND has_sale = 0', id);
      }),
    async purge(beforeMs, onBatch = () => {}) {
      let count = 0;
      // Those that stay are not looked at again with every batch.
      let from: string | null = '';
      while (from !== null) {
        from = await write(async (connection, { dialect }) => {
          const range = [from, firstClickIdAt(beforeMs)];
          const [batch] = await connection.all<{ last: string | null }>(LOCK_BATCH_SQL[dialect], ...range);
          if (batch?.last == null) return null;
          count += (await connection.all(PURGE_SQL[dialect], ...range)).length;
          return batch.last;
        });
        if (from !== null) onBatch(count);
      }
      await emptyLog(await database.open());
      return count;
    },
    async countOf(owner) {
      if (!canHaveClicks(owner)) return 0;
      const opened = await database.open();
      const [row] = await opened.all<{ count: number }>(
        `SELECT count(*) AS count ${ofOwner(owner)}`,
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

/** By key: the click that counts. Locks taps in the order of their keys, so that two nodes never wait for each other. */
async function findFirsts(
  connection: Connection,
  dialect: Database['dialect'],
  taps: readonly Tap[],
  nowMs: number,
): Promise<Map<string, ClickId>> {
  const sorted = taps.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const list = sorted.map(({ key, click }) => [key, click.id, click.activatedAtMs]);
  const rows = await connection.all<{ key: string; click_id: ClickId }>(
    TAP_SQL[dialect],
    JSON.stringify(list),
    nowMs - TAP_MS,
    nowMs + TAP_MS,
  );
  return new Map(rows.map((row) => [row.key, row.click_id]));
}

async function put(connection: Connection, clicks: readonly Click[]): Promise<void> {
  if (clicks.length === 0) return;
  // For the same reason. New ids come in order anyway.
  const sorted = clicks.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  await connection.putMany(CLICKS, sorted.map(toRow));
}

function toRow(click: Click): ClickRow & { readonly has_sale: number } {
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
    id: row.id,
    orgId: row.org_id,
    kind: row.kind,
    dealId: row.deal_id,
    retailerId: row.retailer_id,
    passbackUid: row.passback_uid === ERASED ? null : row.passback_uid,
    passbackData: row.passback_data,
    activatedAtMs: row.activated_at,
    clickedAtMs: row.clicked_at,
    isTracked: row.is_tracked === 1,
  };
}
