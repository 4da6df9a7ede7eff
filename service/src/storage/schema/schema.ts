// The schema of both databases, as ordered migration steps. A step that has been released is never edited.
//
// Retailers and transactions are stored as the JSON text that is sent, beside the columns that queries need.
// The catalogue is read as a whole into memory; a page of transactions is a join of stored texts.
//
// A page of transactions is "the first hundred ids from a cursor on whose stamp lies in a window". No single order
// serves both, so there are three. By id serves a window that takes in everything, by stamp a narrow one. Spans of
// time serve what lies between: each is in the order of the ids, so that spans can be merged. The sizes of the spans
// are chosen in stamp-window.ts; transaction-plans.test.ts checks that the two agree.

export type Step = readonly string[];

export interface Schema {
  readonly steps: readonly Step[];
  /** The version that the first step makes. Programs before the first release made those below it. */
  readonly firstVersion: number;
  /**
   * Which version a program must know, at least, to use this schema. A step that programs before it can live with, such
   * as another table, leaves it as it is: old and new programs may run side by side. Any other step raises it to its own
   * version.
   */
  readonly oldestVersion: number;
  /** Whether the first step replaces what a program before the first release has made. Otherwise that is refused. */
  readonly replacesUnreleased: boolean;
}

/** The version of a database that has had all the steps. */
export function versionOf({ steps, firstVersion }: Schema): number {
  return firstVersion + steps.length - 1;
}

const SPAN_SHIFTS = [20, 25, 30];

const SQLITE: Step = [
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
  // No reference to organisations, nor in the history: every write holds the lock of its organisation's row, and a check of
  // each row would take an eighth of an import.
  `CREATE TABLE transactions (
     id TEXT PRIMARY KEY,
     org_id INTEGER NOT NULL,
     updated_at INTEGER NOT NULL,
     document TEXT NOT NULL,
     import_id INTEGER
   ) STRICT`,
  `CREATE INDEX transactions_by_id ON transactions (org_id, id)`,
  `CREATE INDEX transactions_by_stamp ON transactions (org_id, updated_at, id)`,
  ...SPAN_SHIFTS.map(
    (shift) =>
      `CREATE INDEX transactions_by_span_${shift} ON transactions (org_id, (updated_at >> ${shift}), id)`,
  ),
  `CREATE TABLE history (
     id TEXT NOT NULL,
     until_stamp INTEGER NOT NULL,
     org_id INTEGER NOT NULL,
     from_stamp INTEGER NOT NULL,
     import_id INTEGER,
     document TEXT NOT NULL,
     PRIMARY KEY (id, until_stamp)
   ) STRICT`,
  `CREATE INDEX history_by_id ON history (org_id, until_stamp, id, from_stamp)`,
  `CREATE INDEX history_by_from ON history (org_id, until_stamp, from_stamp, id)`,
  `CREATE TABLE imports (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     kind TEXT NOT NULL,
     org_id INTEGER REFERENCES organisations (id),
     began_at INTEGER NOT NULL,
     ended_at INTEGER,
     outcome TEXT NOT NULL,
     document TEXT NOT NULL
   ) STRICT`,
  `CREATE INDEX imports_by_time ON imports (began_at)`,
  `CREATE TABLE audit (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     at INTEGER NOT NULL,
     made_by TEXT NOT NULL,
     action TEXT NOT NULL,
     org TEXT,
     details TEXT NOT NULL
   ) STRICT`,
  `CREATE INDEX audit_by_time ON audit (at)`,
];

const POSTGRES: Step = [
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
  // No reference to organisations: see above.
  `CREATE TABLE transactions (
     id uuid PRIMARY KEY,
     org_id integer NOT NULL,
     updated_at bigint NOT NULL,
     document text NOT NULL,
     import_id integer
   )`,
  `CREATE INDEX transactions_by_id ON transactions (org_id, id)`,
  // NULLS FIRST: ids are never null, so the order is the same, but PostgreSQL then knows that transactions_by_id does not
  // have it. If it took one span for the whole table, it would walk that index instead, and find nothing for long.
  `CREATE INDEX transactions_by_stamp ON transactions (org_id, updated_at, id NULLS FIRST)`,
  // INCLUDE: PostgreSQL reads such an index without the table only if the column in the expression is in it too.
  ...SPAN_SHIFTS.map(
    (shift) =>
      `CREATE INDEX transactions_by_span_${shift} ON transactions (org_id, (updated_at >> ${shift}), id NULLS FIRST) INCLUDE (updated_at)`,
  ),
  `CREATE TABLE history (
     id uuid NOT NULL,
     until_stamp bigint NOT NULL,
     org_id integer NOT NULL,
     from_stamp bigint NOT NULL,
     import_id integer,
     document text NOT NULL,
     PRIMARY KEY (id, until_stamp)
   )`,
  // NULLS FIRST for the same reason as above: the primary key must not seem to have this order, too.
  `CREATE INDEX history_by_id ON history (org_id, until_stamp, id NULLS FIRST, from_stamp)`,
  `CREATE INDEX history_by_from ON history (org_id, until_stamp, from_stamp, id)`,
  `CREATE TABLE imports (
     id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     kind text NOT NULL,
     org_id integer REFERENCES organisations (id),
     began_at bigint NOT NULL,
     ended_at bigint,
     outcome text NOT NULL,
     document text NOT NULL
   )`,
  `CREATE INDEX imports_by_time ON imports (began_at)`,
  `CREATE TABLE audit (
     id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     at bigint NOT NULL,
     made_by text NOT NULL,
     action text NOT NULL,
     org text,
     details text NOT NULL
   )`,
  `CREATE INDEX audit_by_time ON audit (at)`,
  // Unlogged: losing a note loses a snapshot and no change.
  `CREATE UNLOGGED TABLE walks (
     token_id uuid NOT NULL,
     min_stamp bigint NOT NULL,
     max_stamp bigint NOT NULL,
     stamp bigint NOT NULL,
     begun_at bigint NOT NULL,
     PRIMARY KEY (token_id, min_stamp, max_stamp)
   )`,
  `CREATE INDEX walks_by_time ON walks (begun_at)`,
];

/** A random UUID in SQLite's words: of version 4, like those of PostgreSQL's gen_random_uuid(). */
const SQLITE_RANDOM_UUID = `lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)
  || '-' || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`;

/** Clicks themselves are in a file of their own: see SQLITE_CLICKS. */
const SQLITE_ACTIVATION: Step = [
  `ALTER TABLE organisations ADD COLUMN public_id TEXT`,
  `UPDATE organisations SET public_id = ${SQLITE_RANDOM_UUID}`,
  `CREATE UNIQUE INDEX organisations_by_public_id ON organisations (public_id)`,
  `CREATE TABLE links (
     id TEXT PRIMARY KEY,
     kind TEXT NOT NULL CHECK (kind IN ('retailer', 'deal')),
     template TEXT NOT NULL
   ) STRICT`,
  `CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT`,
  `INSERT INTO secrets (name, value) VALUES ('click', lower(hex(randomblob(32))))`,
  `INSERT INTO revisions (name, value) VALUES ('activation', 0)`,
];

const POSTGRES_ACTIVATION: Step = [
  `ALTER TABLE organisations ADD COLUMN public_id uuid NOT NULL DEFAULT gen_random_uuid()`,
  `CREATE UNIQUE INDEX organisations_by_public_id ON organisations (public_id)`,
  `CREATE TABLE links (
     id uuid PRIMARY KEY,
     kind text NOT NULL CHECK (kind IN ('retailer', 'deal')),
     template text NOT NULL
   )`,
  `CREATE TABLE secrets (name text PRIMARY KEY, value text NOT NULL)`,
  // A UUID has 122 random bits.
  `INSERT INTO secrets (name, value) VALUES ('click', gen_random_uuid()::text || gen_random_uuid()::text)`,
  `INSERT INTO revisions (name, value) VALUES ('activation', 0)`,
  // Ids sort by time, so that new clicks fall side by side. No reference to organisations: it would lock their row for
  // every click.
  `CREATE TABLE clicks (
     id text COLLATE "C" PRIMARY KEY,
     org_id integer NOT NULL,
     kind text NOT NULL,
     deal_id uuid NOT NULL,
     retailer_id uuid NOT NULL,
     passback_uid text NOT NULL,
     passback_data text,
     activated_at bigint NOT NULL,
     clicked_at bigint,
     is_tracked integer NOT NULL,
     has_sale integer NOT NULL
   )`,
  // Unlogged: losing one turns a double tap into two clicks.
  `CREATE UNLOGGED TABLE taps (key text COLLATE "C" PRIMARY KEY, click_id text NOT NULL, at bigint NOT NULL)`,
  `CREATE INDEX taps_by_time ON taps (at)`,
];

/**
 * Who was erased, and which organisations are being deleted. Programs before this step would import again what was
 * erased.
 */
const SQLITE_ERASURE: Step = [
  `ALTER TABLE organisations ADD COLUMN deleting_since INTEGER`,
  `CREATE TABLE erasures (
     org_id INTEGER NOT NULL REFERENCES organisations (id),
     digest TEXT NOT NULL,
     erased_at INTEGER NOT NULL,
     PRIMARY KEY (org_id, digest)
   ) STRICT, WITHOUT ROWID`,
];

const POSTGRES_ERASURE: Step = [
  `ALTER TABLE organisations ADD COLUMN deleting_since bigint`,
  `CREATE TABLE erasures (
     org_id integer NOT NULL REFERENCES organisations (id),
     digest text NOT NULL,
     erased_at bigint NOT NULL,
     PRIMARY KEY (org_id, digest)
   )`,
];

const VERSIONS = { firstVersion: 5, oldestVersion: 7, replacesUnreleased: false };

export const SCHEMAS: Record<'sqlite' | 'postgres', Schema> = {
  sqlite: { ...VERSIONS, steps: [SQLITE, SQLITE_ACTIVATION, SQLITE_ERASURE] },
  postgres: { ...VERSIONS, steps: [POSTGRES, POSTGRES_ACTIVATION, POSTGRES_ERASURE] },
};

/**
 * SQLite keeps walks in a file of their own: an import holds the only write lock of the other for as long as it runs.
 * Walks help for an hour and hold no data, so an old file need not be kept.
 */
export const SQLITE_WALKS: Schema = {
  firstVersion: 3,
  oldestVersion: 3,
  replacesUnreleased: true,
  steps: [
    [
      `DROP TABLE IF EXISTS schema_version`,
      `DROP TABLE IF EXISTS walks`,
      `CREATE TABLE schema_version (version INTEGER NOT NULL, oldest_version INTEGER NOT NULL) STRICT`,
      `CREATE TABLE walks (
         token_id TEXT NOT NULL,
         min_stamp INTEGER NOT NULL,
         max_stamp INTEGER NOT NULL,
         stamp INTEGER NOT NULL,
         begun_at INTEGER NOT NULL,
         PRIMARY KEY (token_id, min_stamp, max_stamp)
       ) STRICT, WITHOUT ROWID`,
      `CREATE INDEX walks_by_time ON walks (begun_at)`,
    ],
  ],
};

/** Clicks of SQLite, for the same reason: a user who follows a link must not wait for an import. */
export const SQLITE_CLICKS: Schema = {
  firstVersion: 1,
  oldestVersion: 1,
  replacesUnreleased: false,
  steps: [
    [
      `CREATE TABLE schema_version (version INTEGER NOT NULL, oldest_version INTEGER NOT NULL) STRICT`,
      `CREATE TABLE clicks (
         id TEXT PRIMARY KEY,
         org_id INTEGER NOT NULL,
         kind TEXT NOT NULL,
         deal_id TEXT NOT NULL,
         retailer_id TEXT NOT NULL,
         passback_uid TEXT NOT NULL,
         passback_data TEXT,
         activated_at INTEGER NOT NULL,
         clicked_at INTEGER,
         is_tracked INTEGER NOT NULL,
         has_sale INTEGER NOT NULL
       ) STRICT, WITHOUT ROWID`,
      `CREATE TABLE taps (key TEXT PRIMARY KEY, click_id TEXT NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
      `CREATE INDEX taps_by_time ON taps (at)`,
    ],
  ],
};
