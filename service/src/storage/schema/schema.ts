// The schema of both databases, as ordered migration steps. A step that has been released is never edited.
//
// Retailers and transactions are stored as the JSON text that is sent, beside the columns that queries need.
// The catalogue is read as a whole into memory; a page of transactions is a join of stored texts.
//
// A page of transactions is "the first hundred ids from a cursor on whose stamp lies in a window". No single
// order serves both, so there are several: by id for a window that takes in everything, by stamp for a narrow
// one, and by spans of time for what lies between, each span in the order of the ids so that spans can be
// merged. The sizes of the spans are chosen in stamp-window.ts, and a test sees to it that the two agree.

export type Step = readonly string[];

/** Finds the walks that are too old without a look at all the others. */
const WALKS_BY_AGE = 'CREATE INDEX walks_by_age ON walks (pinned_at)';

const SQLITE: readonly Step[] = [
  [
    `CREATE TABLE schema_version (version INTEGER NOT NULL, oldest_version INTEGER NOT NULL) STRICT`,
    `CREATE TABLE revisions (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT`,
    `INSERT INTO revisions (name, value) VALUES ('catalogue', 0), ('tokens', 0)`,
    `CREATE TABLE organisations (
       id INTEGER PRIMARY KEY,
       name TEXT NOT NULL UNIQUE,
       created_at INTEGER NOT NULL,
       last_stamp INTEGER NOT NULL
     ) STRICT`,
    `CREATE TABLE tokens (
       id TEXT PRIMARY KEY,
       org_id INTEGER NOT NULL REFERENCES organisations (id),
       kind TEXT NOT NULL CHECK (kind IN ('public', 'private')),
       label TEXT NOT NULL,
       digest TEXT NOT NULL UNIQUE,
       created_at INTEGER NOT NULL,
       expires_at INTEGER,
       revoked_at INTEGER,
       last_used_at INTEGER
     ) STRICT`,
    `CREATE TABLE retailers (id TEXT PRIMARY KEY, document TEXT NOT NULL) STRICT`,
    `CREATE TABLE transactions (
       id TEXT PRIMARY KEY,
       org_id INTEGER NOT NULL REFERENCES organisations (id),
       updated_at INTEGER NOT NULL,
       document TEXT NOT NULL
     ) STRICT`,
    ...transactionIndexes([19, 24, 29], 'id', ''),
  ],
  // Requests are counted in the database on PostgreSQL only; the versions of the two go in step.
  [],
  // SQLite looks into the table for a column in the condition of an index unless the index holds that column too.
  bulkWrites({
    oldShifts: [19, 24, 29],
    stampType: 'INTEGER',
    idInRuns: 'id, in_bulk',
    beside: '',
    tableOptions: ' STRICT, WITHOUT ROWID',
  }),
  // Walks have a file of their own.
  [],
  [],
];

/** A file of its own: an import holds the only write lock of the other for as long as it runs. */
export const SQLITE_WALKS: readonly Step[] = [
  [
    `CREATE TABLE schema_version (version INTEGER NOT NULL, oldest_version INTEGER NOT NULL) STRICT`,
    `CREATE TABLE walks (
       token_id TEXT NOT NULL,
       min_stamp INTEGER NOT NULL,
       max_stamp INTEGER NOT NULL,
       pinned_stamp INTEGER NOT NULL,
       pinned_at INTEGER NOT NULL,
       PRIMARY KEY (token_id, min_stamp, max_stamp)
     ) STRICT, WITHOUT ROWID`,
  ],
  walksByOrganisation('TABLE', 'INTEGER', ' STRICT, WITHOUT ROWID'),
  [WALKS_BY_AGE],
];

const POSTGRES: readonly Step[] = [
  [
    `CREATE TABLE schema_version (version integer NOT NULL, oldest_version integer NOT NULL)`,
    `CREATE TABLE revisions (name text PRIMARY KEY, value bigint NOT NULL)`,
    `INSERT INTO revisions (name, value) VALUES ('catalogue', 0), ('tokens', 0)`,
    `CREATE TABLE organisations (
       id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       name text COLLATE "C" NOT NULL UNIQUE,
       created_at bigint NOT NULL,
       last_stamp bigint NOT NULL
     )`,
    `CREATE TABLE tokens (
       id uuid PRIMARY KEY,
       org_id integer NOT NULL REFERENCES organisations (id),
       kind text NOT NULL CHECK (kind IN ('public', 'private')),
       label text NOT NULL,
       digest text NOT NULL UNIQUE,
       created_at bigint NOT NULL,
       expires_at bigint,
       revoked_at bigint,
       last_used_at bigint
     )`,
    `CREATE TABLE retailers (id uuid PRIMARY KEY, document text NOT NULL)`,
    `CREATE TABLE transactions (
       id uuid PRIMARY KEY,
       org_id integer NOT NULL REFERENCES organisations (id),
       updated_at bigint NOT NULL,
       document text NOT NULL
     )`,
    // Unlogged: losing it in a crash only takes away a help.
    `CREATE UNLOGGED TABLE walks (
       token_id uuid NOT NULL,
       min_stamp bigint NOT NULL,
       max_stamp bigint NOT NULL,
       pinned_stamp bigint NOT NULL,
       pinned_at bigint NOT NULL,
       PRIMARY KEY (token_id, min_stamp, max_stamp)
     )`,
    // Ids are never null, so this is the same order; but PostgreSQL then knows that the other indexes do not have
    // it. When it took a stamp or span for all there is, it would walk one of those, and find nothing for long.
    // And it reads such an index alone, without the table, only when the column in the expression is in there too.
    ...transactionIndexes([19, 23, 27, 31], 'id NULLS FIRST', ' INCLUDE (updated_at)'),
  ],
  [
    // Unlogged: after a crash, everybody's minute begins anew. Keys are hashes; half-full pages make room for
    // the next count beside the last one.
    `CREATE UNLOGGED TABLE request_counts (
       key bigint PRIMARY KEY,
       window_number bigint NOT NULL,
       taken integer NOT NULL
     ) WITH (fillfactor = 50)`,
  ],
  bulkWrites({
    oldShifts: [19, 23, 27, 31],
    stampType: 'bigint',
    idInRuns: 'id NULLS FIRST',
    beside: ' INCLUDE (updated_at)',
    tableOptions: '',
  }),
  walksByOrganisation('UNLOGGED TABLE', 'bigint', ''),
  [WALKS_BY_AGE],
];

function transactionIndexes(spanShifts: readonly number[], idInRuns: string, beside: string): string[] {
  return [
    `CREATE INDEX transactions_by_id ON transactions (org_id, id)`,
    `CREATE INDEX transactions_by_stamp ON transactions (org_id, updated_at, ${idInRuns})`,
    ...spanShifts.map((shift) => spanIndex(shift, idInRuns, beside)),
  ];
}

function spanIndex(shift: number, idInRuns: string, beside: string): string {
  return `CREATE INDEX transactions_by_span_${shift} ON transactions (org_id, (updated_at >> ${shift}), ${idInRuns})${beside}`;
}

/**
 * What large writes bring in stays out of the indexes by span: see bulk-stamps.ts. That made room on SQLite for as many
 * sizes of spans as PostgreSQL has.
 */
function bulkWrites(dialect: {
  readonly oldShifts: readonly number[];
  readonly stampType: string;
  readonly idInRuns: string;
  readonly beside: string;
  readonly tableOptions: string;
}): string[] {
  const { oldShifts, stampType, idInRuns, beside, tableOptions } = dialect;
  return [
    `ALTER TABLE transactions ADD COLUMN in_bulk INTEGER NOT NULL DEFAULT 0`,
    ...oldShifts.map((shift) => `DROP INDEX transactions_by_span_${shift}`),
    ...[19, 23, 27, 31].map((shift) => `${spanIndex(shift, idInRuns, beside)} WHERE in_bulk = 0`),
    `CREATE TABLE bulk_writes (
       org_id INTEGER NOT NULL REFERENCES organisations (id),
       stamp ${stampType} NOT NULL,
       PRIMARY KEY (org_id, stamp)
     )${tableOptions}`,
  ];
}

/** Walks were known by token at first: one that went on with another token could be held to a stamp of its past. */
function walksByOrganisation(table: string, stampType: string, tableOptions: string): string[] {
  return [
    `DROP TABLE walks`,
    `CREATE ${table} walks (
       org_id INTEGER NOT NULL,
       min_stamp ${stampType} NOT NULL,
       max_stamp ${stampType} NOT NULL,
       pinned_stamp ${stampType} NOT NULL,
       pinned_at ${stampType} NOT NULL,
       PRIMARY KEY (org_id, min_stamp, max_stamp)
     )${tableOptions}`,
  ];
}

export const MIGRATIONS: Record<'sqlite' | 'postgres', readonly Step[]> = {
  sqlite: SQLITE,
  postgres: POSTGRES,
};

/**
 * Which version of the schema a program must know, at least, to use this one. A step that programs before it can
 * live with, such as another table, leaves it as it is: old and new programs may run side by side. Any other step
 * raises it to its own number.
 */
export const OLDEST_VERSION: Record<'sqlite' | 'postgres', number> = { sqlite: 4, postgres: 4 };
/** The same for the file of walks. */
export const WALKS_OLDEST_VERSION = 2;
