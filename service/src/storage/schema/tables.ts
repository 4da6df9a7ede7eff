// The tables and indexes of both databases.
//
// Retailers and transactions are stored as the JSON text that clients receive, next to the columns that queries need. Servers
// read the whole catalogue into memory; a page of transactions is a concatenation of stored strings.
//
// Starting at a cursor, a page of transactions contains the first hundred ids whose stamps are in a window. No single index order
// serves both conditions, so there are three kinds of indexes: by id for windows without a start, by stamp for narrow windows,
// and by span for all others (see transactions/transaction-page.ts). stamp-window.ts defines the span size;
// transaction-plans.test.ts checks that the index matches. A fourth kind finds a user's transactions (transactions/user-ids.ts).

import type { Sql } from '../sql.ts';

/** Length of a span, as a power of two in milliseconds. */
const SPAN_SHIFT = 29;
const USER_SPAN_SHIFT = 30;

export function versionTable({ ddl: { integer, end } }: Sql): string[] {
  return [
    `CREATE TABLE schema_version (version ${integer} NOT NULL, oldest_version ${integer} NOT NULL)${end}`,
  ];
}

/** Everything except clicks and walks, which SQLite keeps in separate files. */
export function mainTables({ ddl }: Sql): string[] {
  const { integer, bigint, text, sortedText, uuid, number, neverReusedNumber, end, keyedEnd } = ddl;
  const { nullsFirst, growingEnd } = ddl;
  return [
    `CREATE TABLE revisions (name ${text} PRIMARY KEY, value ${bigint} NOT NULL)${end}`,
    `INSERT INTO revisions (name, value) VALUES ('catalogue', 0), ('tokens', 0), ('activation', 0), ('webhooks', 0)`,
    `CREATE TABLE organisations (
     id ${number},
     name ${sortedText} NOT NULL UNIQUE,
     created_at ${bigint} NOT NULL,
     last_stamp ${bigint} NOT NULL,
     public_id ${uuid} NOT NULL UNIQUE,
     deleting_since ${bigint}
   )${end}`,
    `CREATE TABLE tokens (
     id ${uuid} PRIMARY KEY,
     org_id ${integer} NOT NULL REFERENCES organisations (id),
     kind ${text} NOT NULL CHECK (kind IN ('public', 'private')),
     label ${text} NOT NULL,
     digest ${text} NOT NULL UNIQUE,
     created_at ${bigint} NOT NULL,
     expires_at ${bigint},
     overlap_ends_at ${bigint},
     revoked_at ${bigint},
     last_used_at ${bigint}
   )${end}`,
    `CREATE TABLE webhooks (
     id ${uuid} PRIMARY KEY,
     org_id ${integer} NOT NULL REFERENCES organisations (id),
     url ${text} NOT NULL,
     created_at ${bigint} NOT NULL,
     generation ${integer} NOT NULL,
     oldest_generation ${integer} NOT NULL,
     overlap_ends_at ${bigint} NOT NULL,
     position_stamp ${bigint} NOT NULL,
     position_id ${uuid} NOT NULL,
     sending_since ${bigint} NOT NULL,
     revision ${integer} NOT NULL,
     paused_at ${bigint},
     paused_by ${text},
     failing_since ${bigint},
     failures ${integer} NOT NULL,
     attempted_at ${bigint},
     retry_at ${bigint},
     last_result ${text},
     delivered_at ${bigint}
   )${end}`,
    // `source` is the source of the pull, such as awin:77777; null if the retailer was imported from a file.
    `CREATE TABLE retailers (id ${uuid} PRIMARY KEY, document ${text} NOT NULL, source ${text})${end}`,
    `CREATE TABLE links (
     id ${uuid} PRIMARY KEY,
     kind ${text} NOT NULL CHECK (kind IN ('retailer', 'deal')),
     template ${text} NOT NULL,
     domains ${text} NOT NULL
   )${end}`,
    `CREATE TABLE secrets (name ${text} PRIMARY KEY, value ${text} NOT NULL)${end}`,
    `INSERT INTO secrets (name, value) VALUES ('click', ${ddl.randomSecret})`,
    // No foreign key to organisations, here or in the history: every write already holds the lock on its organisation's row, and
    // checking each row would slow down imports.
    `CREATE TABLE transactions (
     id ${uuid} PRIMARY KEY,
     org_id ${integer} NOT NULL,
     updated_at ${bigint} NOT NULL,
     document ${text} NOT NULL,
     import_id ${integer},
     source_updated_at ${bigint},
     user_key ${bigint},
     retailer_id ${uuid}
   )${growingEnd}`,
    `CREATE INDEX transactions_by_id ON transactions (org_id, id)`,
    `CREATE INDEX transactions_by_stamp ON transactions (org_id, updated_at, id${nullsFirst})`,
    // Ends with the stamp, so that transactions of an edge can be found without reading the table.
    `CREATE INDEX transactions_by_span ON transactions (org_id, (updated_at >> ${SPAN_SHIFT}), id${nullsFirst}, updated_at)`,
    `CREATE INDEX transactions_by_user ON transactions
     (org_id, user_key, (updated_at >> ${USER_SPAN_SHIFT}), id${nullsFirst}, updated_at) WHERE user_key IS NOT NULL`,
    `CREATE TABLE history (
     id ${uuid} NOT NULL,
     until_stamp ${bigint} NOT NULL,
     org_id ${integer} NOT NULL,
     from_stamp ${bigint} NOT NULL,
     import_id ${integer},
     document ${text} NOT NULL,
     PRIMARY KEY (id, until_stamp)
   )${growingEnd}`,
    `CREATE INDEX history_by_id ON history (org_id, until_stamp, id${nullsFirst}, from_stamp)`,
    `CREATE INDEX history_by_from ON history (org_id, until_stamp, from_stamp, id)`,
    // Users of replaced versions whose transactions now have another user or none.
    `CREATE TABLE former_users (
     org_id ${integer} NOT NULL,
     user_key ${bigint} NOT NULL,
     id ${uuid} NOT NULL,
     until_stamp ${bigint} NOT NULL,
     PRIMARY KEY (org_id, user_key, id)
   )${keyedEnd}`,
    `CREATE TABLE daily_totals (
     org_id ${integer} NOT NULL REFERENCES organisations (id),
     day ${sortedText} NOT NULL,
     currency ${sortedText} NOT NULL,
     status ${sortedText} NOT NULL,
     count ${bigint} NOT NULL,
     order_value ${text} NOT NULL,
     cashback ${text} NOT NULL,
     PRIMARY KEY (org_id, day, currency, status)
   )${keyedEnd}`,
    `CREATE TABLE erasures (
     org_id ${integer} NOT NULL REFERENCES organisations (id),
     digest ${text} NOT NULL,
     erased_at ${bigint} NOT NULL,
     PRIMARY KEY (org_id, digest)
   )${keyedEnd}`,
    `CREATE TABLE imports (
     id ${neverReusedNumber},
     kind ${text} NOT NULL,
     org_id ${integer} REFERENCES organisations (id),
     began_at ${bigint} NOT NULL,
     ended_at ${bigint},
     outcome ${text} NOT NULL,
     document ${text} NOT NULL
   )${end}`,
    `CREATE INDEX imports_by_time ON imports (began_at)`,
    // Imports without an organisation have org_id 0; imports without a source have an empty source.
    `CREATE TABLE import_feeds (
     kind ${text} NOT NULL,
     org_id ${integer} NOT NULL,
     source ${text} NOT NULL,
     last_success ${bigint},
     last_outcome ${text} NOT NULL,
     last_ended ${bigint} NOT NULL,
     PRIMARY KEY (kind, org_id, source)
   )${keyedEnd}`,
    `CREATE TABLE pull_streams (
     source ${text} NOT NULL,
     org_id ${integer} NOT NULL,
     stream ${text} NOT NULL,
     complete_through ${bigint},
     document ${text} NOT NULL,
     PRIMARY KEY (source, org_id, stream)
   )${keyedEnd}`,
    // A credential is a digest of its secret.
    `CREATE TABLE pull_budgets (
     credential ${text} PRIMARY KEY,
     next_at ${bigint} NOT NULL,
     interval_ms ${integer} NOT NULL,
     burst ${integer} NOT NULL
   )${keyedEnd}`,
    `CREATE TABLE pull_requests (
     source ${text} NOT NULL,
     credential ${text} NOT NULL,
     outcome ${text} NOT NULL,
     count ${bigint} NOT NULL,
     PRIMARY KEY (source, credential, outcome)
   )${keyedEnd}`,
    `CREATE TABLE pull_rows (
     source ${sortedText} NOT NULL,
     sale_id ${sortedText} NOT NULL,
     part_id ${sortedText} NOT NULL,
     org_id ${integer} NOT NULL,
     sub_id ${text},
     due_at ${bigint},
     seen_at ${bigint} NOT NULL,
     document ${text} NOT NULL,
     PRIMARY KEY (source, sale_id, part_id)
   )${end}`,
    `CREATE INDEX pull_rows_by_sub_id ON pull_rows (org_id, sub_id)`,
    `CREATE INDEX pull_rows_by_due ON pull_rows (source, due_at) WHERE due_at IS NOT NULL`,
    `CREATE TABLE audit (
     id ${neverReusedNumber},
     at ${bigint} NOT NULL,
     made_by ${text} NOT NULL,
     action ${text} NOT NULL,
     org ${text},
     details ${text} NOT NULL
   )${end}`,
    `CREATE INDEX audit_by_time ON audit (at)`,
    // PostgreSQL's ANALYZE would copy values into pg_statistic, where erasures do not remove them. No query plan needs these
    // statistics.
    ...ddl.withoutStatistics('transactions', 'document'),
    ...ddl.withoutStatistics('history', 'document'),
    ...ddl.withoutStatistics('transactions', 'user_key'),
    ...ddl.withoutStatistics('former_users', 'user_key'),
    ...ddl.withoutStatistics('pull_rows', 'sub_id'),
    ...ddl.withoutStatistics('pull_rows', 'document'),
  ];
}

/**
 * PostgreSQL only. The timelines on which this database has been written to. For every timeline except the first, each change
 * clock when the timeline was recorded: `last_stamp` before the clock was moved, and `moved_to` after. If the new primary lacks
 * changes, `lost_through` is the last stamp that a server had seen, and `restamped_at` is null until all transactions have new
 * stamps.
 */
export function timelineTables({ ddl: { integer, bigint, text, number, end, keyedEnd } }: Sql): string[] {
  return [
    `CREATE TABLE timelines (
     id ${number},
     system ${text} NOT NULL,
     timeline ${integer} NOT NULL,
     at ${bigint} NOT NULL,
     settled_at ${bigint},
     UNIQUE (system, timeline)
   )${end}`,
    `CREATE TABLE timeline_clocks (
     timeline_id ${integer} NOT NULL REFERENCES timelines (id),
     org_id ${integer} NOT NULL REFERENCES organisations (id) ON DELETE CASCADE,
     last_stamp ${bigint} NOT NULL,
     moved_to ${bigint} NOT NULL,
     lost_through ${bigint},
     restamped_at ${bigint},
     PRIMARY KEY (timeline_id, org_id)
   )${keyedEnd}`,
  ];
}

/** Unlogged: if a lease is lost, a process takes it again. */
export function leaseTable({ ddl: { bigint, text, unlogged, keyedEnd } }: Sql): string[] {
  return [
    `CREATE ${unlogged}TABLE leases (name ${text} PRIMARY KEY, holder ${text} NOT NULL, beat ${bigint} NOT NULL)${keyedEnd}`,
  ];
}

/** Unlogged: if a walk is lost, its client loses the snapshot, but never a change. */
export function walkTables({ ddl: { uuid, bigint, unlogged, keyedEnd } }: Sql): string[] {
  return [
    `CREATE ${unlogged}TABLE walks (
     token_id ${uuid} NOT NULL,
     min_stamp ${bigint} NOT NULL,
     max_stamp ${bigint} NOT NULL,
     user_key ${bigint} NOT NULL,
     stamp ${bigint} NOT NULL,
     begun_at ${bigint} NOT NULL,
     PRIMARY KEY (token_id, min_stamp, max_stamp, user_key)
   )${keyedEnd}`,
    `CREATE INDEX walks_by_time ON walks (begun_at)`,
  ];
}

/**
 * Ids sort by time, so new clicks are stored side by side. There is no foreign key to organisations, because it would lock the
 * organisation's row for every click. Taps are unlogged, because a lost tap only turns a double tap into two clicks.
 */
export function clickTables({ ddl }: Sql): string[] {
  const { integer, bigint, text, sortedText, uuid, unlogged, keyedEnd } = ddl;
  return [
    `CREATE TABLE clicks (
     id ${sortedText} PRIMARY KEY,
     org_id ${integer} NOT NULL,
     kind ${text} NOT NULL,
     deal_id ${uuid} NOT NULL,
     retailer_id ${uuid} NOT NULL,
     passback_uid ${text} NOT NULL,
     passback_data ${text},
     activated_at ${bigint} NOT NULL,
     clicked_at ${bigint},
     is_tracked ${integer} NOT NULL,
     has_sale ${integer} NOT NULL
   )${keyedEnd}`,
    `CREATE ${unlogged}TABLE taps (key ${sortedText} PRIMARY KEY, click_id ${text} NOT NULL, at ${bigint} NOT NULL)${keyedEnd}`,
    `CREATE INDEX taps_by_time ON taps (at)`,
    ...ddl.withoutStatistics('clicks', 'passback_uid'),
    ...ddl.withoutStatistics('clicks', 'passback_data'),
  ];
}

/** Spool rows that are not valid clicks. Any value may be missing. */
export function rejectedClickTable({ ddl: { integer, bigint, text, uuid, end } }: Sql): string[] {
  return [
    `CREATE TABLE rejected_clicks (
     id ${text}, org_id ${integer}, kind ${text}, deal_id ${uuid}, retailer_id ${uuid}, passback_uid ${text},
     passback_data ${text}, activated_at ${bigint}, clicked_at ${bigint}, is_tracked ${integer}, has_sale ${integer},
     reason ${text} NOT NULL
   )${end}`,
  ];
}
