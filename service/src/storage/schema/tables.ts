// All tables of both databases, each declared once. Row types, DDL, bulk statements, `copy`, the deletion of an organisation and
// doctor's list of tables are derived from these declarations.
//
// Retailers and transactions are stored as the JSON text that clients receive, next to the columns that queries need. Servers
// read the whole catalogue into memory; a page of transactions is a concatenation of stored strings.
//
// Starting at a cursor, a page of transactions contains the first hundred ids whose stamps are in a window. No single index order
// serves both conditions, so there are three kinds of indexes: by id for windows without a start, by stamp for narrow windows,
// and by span for all others (see transactions/transaction-page.ts). A fourth kind finds a user's transactions
// (transactions/user-ids.ts).

import { nullable, type RowOf, type Table, table } from './table.ts';

/**
 * Length of a span, as a power of two in milliseconds: about six days. Every span in a window costs an index seek; three years
 * have 177 spans. Shorter spans would mean more seeks; longer spans would mean edges with more transactions.
 */
export const SPAN_SHIFT = 29;
/** The same for the transactions of one user. */
export const USER_SPAN_SHIFT = 30;

const ORGANISATIONS = 'organisations (id)';

const SCHEMA_VERSION = table({
  name: 'schema_version',
  columns: { version: 'integer', oldest_version: 'integer' },
  keyLength: 0,
  copied: 'not',
});

const REVISIONS = table({
  name: 'revisions',
  columns: { name: 'text', value: 'bigint' },
  firstRows: () => [
    `INSERT INTO revisions (name, value) VALUES ('catalogue', 0), ('tokens', 0), ('activation', 0), ('webhooks', 0)`,
  ],
  copied: 'by code',
});

const ORGANISATION_TABLE = table({
  name: 'organisations',
  columns: {
    id: 'number',
    name: 'sortedText',
    created_at: 'bigint',
    last_stamp: 'bigint',
    public_id: 'uuid',
    deleting_since: 'bigint?',
  },
  unique: ['name', 'public_id'],
});

export const TOKENS = table({
  name: 'tokens',
  columns: {
    id: 'uuid',
    org_id: 'integer',
    kind: 'text',
    label: 'text',
    digest: 'text',
    created_at: 'bigint',
    expires_at: 'bigint?',
    overlap_ends_at: 'bigint?',
    revoked_at: 'bigint?',
    last_used_at: 'bigint?',
  },
  unique: ['digest'],
  references: { org_id: ORGANISATIONS },
  values: { kind: ['public', 'private'] },
  deleted: 'first',
});

export const WEBHOOKS = table({
  name: 'webhooks',
  columns: {
    id: 'uuid',
    org_id: 'integer',
    url: 'text',
    created_at: 'bigint',
    generation: 'integer',
    oldest_generation: 'integer',
    overlap_ends_at: 'bigint',
    position_stamp: 'bigint',
    position_id: 'uuid',
    sending_since: 'bigint',
    revision: 'integer',
    paused_at: 'bigint?',
    paused_by: 'text?',
    failing_since: 'bigint?',
    failures: 'integer',
    attempted_at: 'bigint?',
    retry_at: 'bigint?',
    last_result: 'text?',
    delivered_at: 'bigint?',
  },
  references: { org_id: ORGANISATIONS },
  deleted: 'first',
});

/** `source` is the source of the pull, such as awin:77777; null if the retailer was imported from a file. */
export const RETAILERS = table({
  name: 'retailers',
  columns: { id: 'uuid', document: 'text', source: 'text?' },
});

/** `domains` is a JSON list. */
export const LINKS = table({
  name: 'links',
  columns: { id: 'uuid', kind: 'text', template: 'text', domains: 'text' },
  values: { kind: ['retailer', 'deal'] },
});

const SECRETS = table({
  name: 'secrets',
  columns: { name: 'text', value: 'text' },
  firstRows: ({ ddl }) => [`INSERT INTO secrets (name, value) VALUES ('click', ${ddl.randomSecret})`],
});

/**
 * The key begins with the organisation, so one index serves look-ups and pages, and an organisation's rows are next to each other.
 * No foreign key to organisations, here or in the history: every write already holds the lock on its organisation's row, and
 * checking each row would slow down imports. `user_key` is null if the document has no passbackUid; see
 * transactions/user-ids.ts.
 */
export const TRANSACTIONS = table({
  name: 'transactions',
  columns: {
    org_id: 'integer',
    id: 'uuid',
    updated_at: 'bigint',
    document: 'text',
    import_id: 'integer?',
    source_updated_at: 'bigint?',
    user_key: 'bigint?',
    retailer_id: 'uuid?',
  },
  keyLength: 2,
  indexes: {
    transactions_by_stamp: ({ ddl }) => `(org_id, updated_at, id${ddl.nullsFirst})`,
    // Ends with the stamp, so that transactions of an edge can be found without reading the table.
    transactions_by_span: ({ ddl }) =>
      `(org_id, (updated_at >> ${SPAN_SHIFT}), id${ddl.nullsFirst}, updated_at)`,
    transactions_by_user: ({ ddl }) =>
      `(org_id, user_key, (updated_at >> ${USER_SPAN_SHIFT}), id${ddl.nullsFirst}, updated_at) WHERE user_key IS NOT NULL`,
  },
  storage: 'growing',
  personal: ['document', 'user_key'],
  deleted: 'in batches',
});
export type TransactionRow = RowOf<typeof TRANSACTIONS>;

/**
 * The key begins with the id, so it serves a search for a transaction's versions. The search must compare +org_id, because a plain
 * org_id would let the planner choose another index.
 */
export const HISTORY = table({
  name: 'history',
  columns: {
    id: 'uuid',
    until_stamp: 'bigint',
    org_id: 'integer',
    from_stamp: 'bigint',
    import_id: 'integer?',
    document: 'text',
  },
  keyLength: 3,
  indexes: {
    history_by_id: ({ ddl }) => `(org_id, until_stamp, id${ddl.nullsFirst}, from_stamp)`,
    history_by_from: '(org_id, until_stamp, from_stamp, id)',
  },
  storage: 'growing',
  personal: ['document'],
  deleted: 'in batches',
});
export type VersionRow = RowOf<typeof HISTORY>;

/**
 * Users whose transactions now have a different user or none. If a version in the history names a user, then the current version
 * names the same user or this table has an entry, so a user's versions can be found without an index on the history.
 */
export const FORMER_USERS = table({
  name: 'former_users',
  columns: { org_id: 'integer', user_key: 'bigint', id: 'uuid', until_stamp: 'bigint' },
  keyLength: 3,
  storage: 'by key',
  personal: ['user_key'],
});

/** The amounts are decimal strings, because SQLite has no exact decimal type. */
export const DAILY_TOTALS = table({
  name: 'daily_totals',
  columns: {
    org_id: 'integer',
    day: 'sortedText',
    currency: 'sortedText',
    status: 'sortedText',
    count: 'bigint',
    order_value: 'text',
    cashback: 'text',
  },
  keyLength: 4,
  references: { org_id: ORGANISATIONS },
  storage: 'by key',
});

export const ERASURES = table({
  name: 'erasures',
  columns: { org_id: 'integer', digest: 'text', erased_at: 'bigint' },
  keyLength: 2,
  references: { org_id: ORGANISATIONS },
  storage: 'by key',
});

export const IMPORTS = table({
  name: 'imports',
  columns: {
    id: 'neverReusedNumber',
    kind: 'text',
    org_id: 'integer?',
    began_at: 'bigint',
    ended_at: 'bigint?',
    outcome: 'text',
    document: 'text',
  },
  references: { org_id: ORGANISATIONS },
  indexes: { imports_by_time: '(began_at)' },
});

/** Imports without an organisation have org_id 0; imports without a source have an empty source. */
const IMPORT_FEEDS = table({
  name: 'import_feeds',
  columns: {
    kind: 'text',
    org_id: 'integer',
    source: 'text',
    last_success: 'bigint?',
    last_outcome: 'text',
    last_ended: 'bigint',
  },
  keyLength: 3,
  storage: 'by key',
});

export const PULL_STREAMS = table({
  name: 'pull_streams',
  columns: {
    source: 'text',
    org_id: 'integer',
    stream: 'text',
    complete_through: 'bigint?',
    document: 'text',
  },
  keyLength: 3,
  storage: 'by key',
});

/** `credential` is a digest of the credential's secrets. Budgets expire soon. */
const PULL_BUDGETS = table({
  name: 'pull_budgets',
  columns: { credential: 'text', next_at: 'bigint', interval_ms: 'integer', burst: 'integer' },
  storage: 'by key',
  copied: 'not',
});

const PULL_REQUESTS = table({
  name: 'pull_requests',
  columns: { source: 'text', credential: 'text', outcome: 'text', count: 'bigint' },
  keyLength: 3,
  storage: 'by key',
  copied: 'not',
});

export const PULL_ROWS = table({
  name: 'pull_rows',
  columns: {
    source: 'sortedText',
    sale_id: 'sortedText',
    part_id: 'sortedText',
    org_id: 'integer',
    sub_id: 'text?',
    due_at: 'bigint?',
    seen_at: 'bigint',
    document: 'text',
  },
  keyLength: 3,
  indexes: {
    pull_rows_by_sub_id: '(org_id, sub_id)',
    pull_rows_by_due: '(source, due_at) WHERE due_at IS NOT NULL',
  },
  personal: ['sub_id', 'document'],
  deleted: 'in batches',
});

/** Entries stay when their organisation is deleted. `org` is the organisation's name. */
export const AUDIT = table({
  name: 'audit',
  columns: {
    id: 'neverReusedNumber',
    at: 'bigint',
    made_by: 'text',
    action: 'text',
    org: 'text?',
    details: 'text',
  },
  indexes: { audit_by_time: '(at)' },
});

/** PostgreSQL only. The timelines on which this database has been written to. */
const TIMELINES = table({
  name: 'timelines',
  columns: { id: 'number', system: 'text', timeline: 'integer', at: 'bigint', settled_at: 'bigint?' },
  unique: ['system, timeline'],
  copied: 'not',
});

/**
 * PostgreSQL only. For every timeline except the first, each change clock when the timeline was recorded: `last_stamp` before the
 * clock was moved, and `moved_to` after. If the new primary lacks changes, `lost_through` is the last stamp that a server had
 * seen, and `restamped_at` is null until all transactions have new stamps.
 */
const TIMELINE_CLOCKS = table({
  name: 'timeline_clocks',
  columns: {
    timeline_id: 'integer',
    org_id: 'integer',
    last_stamp: 'bigint',
    moved_to: 'bigint',
    lost_through: 'bigint?',
    restamped_at: 'bigint?',
  },
  keyLength: 2,
  references: { timeline_id: 'timelines (id)', org_id: `${ORGANISATIONS} ON DELETE CASCADE` },
  storage: 'by key',
  copied: 'not',
});

/** A lost row does no harm: a process acquires the lease again. */
const LEASES = table({
  name: 'leases',
  columns: { name: 'text', holder: 'text', beat: 'bigint' },
  storage: 'by key',
  isUnlogged: true,
  copied: 'not',
});

/** If a walk is lost, its client loses the snapshot, but never a change. */
const WALKS = table({
  name: 'walks',
  columns: {
    token_id: 'uuid',
    min_stamp: 'bigint',
    max_stamp: 'bigint',
    user_key: 'bigint',
    stamp: 'bigint',
    begun_at: 'bigint',
  },
  keyLength: 4,
  indexes: { walks_by_time: '(begun_at)' },
  storage: 'by key',
  isUnlogged: true,
  copied: 'not',
});

/**
 * Ids sort by time, so new clicks are stored side by side. There is no foreign key to organisations, because it would lock the
 * organisation's row for every click.
 */
export const CLICKS = table({
  name: 'clicks',
  columns: {
    id: 'sortedText',
    org_id: 'integer',
    kind: 'text',
    deal_id: 'uuid',
    retailer_id: 'uuid',
    passback_uid: 'text',
    passback_data: 'text?',
    activated_at: 'bigint',
    clicked_at: 'bigint?',
    is_tracked: 'integer',
    has_sale: 'integer',
  },
  storage: 'by key',
  personal: ['passback_uid', 'passback_data'],
  deleted: 'in batches',
  copied: 'by code',
  filledLater: 'clicked_at',
});

/** A lost tap only turns a double tap into two clicks. */
const TAPS = table({
  name: 'taps',
  columns: { key: 'sortedText', click_id: 'text', at: 'bigint' },
  indexes: { taps_by_time: '(at)' },
  storage: 'by key',
  isUnlogged: true,
  copied: 'not',
});

/** Rows of a spool that are not valid clicks. Any value may be missing. */
export const REJECTED_CLICKS = table({
  name: 'rejected_clicks',
  columns: { ...nullable(CLICKS.columns), reason: 'text' },
  keyLength: 0,
  copied: 'not',
});

/** Everything except clicks and walks, which SQLite keeps in separate files. A table precedes those that contain its numbers. */
export const MAIN_TABLES: readonly Table[] = [
  SCHEMA_VERSION,
  REVISIONS,
  ORGANISATION_TABLE,
  TOKENS,
  WEBHOOKS,
  RETAILERS,
  LINKS,
  SECRETS,
  IMPORTS,
  TRANSACTIONS,
  HISTORY,
  FORMER_USERS,
  DAILY_TOTALS,
  ERASURES,
  IMPORT_FEEDS,
  PULL_STREAMS,
  PULL_BUDGETS,
  PULL_REQUESTS,
  PULL_ROWS,
  AUDIT,
  LEASES,
];
export const WALK_TABLES: readonly Table[] = [SCHEMA_VERSION, WALKS, LEASES];
export const CLICK_TABLES: readonly Table[] = [SCHEMA_VERSION, CLICKS, TAPS];

/** The tables of a PostgreSQL database. */
export const ALL_TABLES: readonly Table[] = [
  ...new Set([...MAIN_TABLES, ...WALK_TABLES, ...CLICK_TABLES, TIMELINES, TIMELINE_CLOCKS]),
];
