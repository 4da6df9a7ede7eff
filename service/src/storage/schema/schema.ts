// The schema of both databases, as ordered migration steps. A step that has been released is never edited.
//
// Retailers and transactions are stored as the JSON text that is sent, beside the columns that queries need.
// The catalogue is read as a whole into memory; a page of transactions is a join of stored texts.
//
// A page of transactions is "the first hundred ids from a cursor on whose stamp lies in a window". No single order
// serves both, so there are three. By id serves a window that takes in everything, by stamp a narrow one. Spans of
// time serve what lies between: each is in the order of the ids, so that spans can be merged. The sizes of the spans
// are chosen in stamp-window.ts; transaction-plans.test.ts checks that the two agree.

import { type Dialect, inBoth } from '../sql-dialect.ts';

type Step = readonly string[];

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

/** What the two databases call the same. */
const TYPES = {
  sqlite: { integer: 'INTEGER', bigint: 'INTEGER', text: 'TEXT', sortedText: 'TEXT', uuid: 'TEXT' },
  postgres: {
    integer: 'integer',
    bigint: 'bigint',
    text: 'text',
    sortedText: 'text COLLATE "C"',
    uuid: 'uuid',
  },
};

/** `end` ends a table, `keyedEnd` one that is kept in the order of its key. */
const WORDS = {
  sqlite: {
    ...TYPES.sqlite,
    number: 'INTEGER PRIMARY KEY',
    numberOfEntry: 'INTEGER PRIMARY KEY AUTOINCREMENT',
    unlogged: '',
    end: ' STRICT',
    keyedEnd: ' STRICT, WITHOUT ROWID',
    nullsFirst: '',
    include: '',
  },
  postgres: {
    ...TYPES.postgres,
    number: 'integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    numberOfEntry: 'integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    unlogged: 'UNLOGGED ',
    end: '',
    keyedEnd: '',
    // Ids are never null, so the order is the same, but PostgreSQL then knows that transactions_by_id does not have it, nor
    // the primary key of the history. If it took one span for the whole table, it would walk that index instead, and find
    // nothing for long.
    nullsFirst: ' NULLS FIRST',
    // PostgreSQL reads such an index without the table only if the column in the expression is in it too.
    include: ' INCLUDE (updated_at)',
  },
};

const SPAN_SHIFTS = [20, 25, 30];

/** A step of both databases. */
type MakeStep = (dialect: Dialect) => Step;

const versionTable: MakeStep = (dialect) => {
  const { integer, end } = WORDS[dialect];
  return [
    `CREATE TABLE schema_version (version ${integer} NOT NULL, oldest_version ${integer} NOT NULL)${end}`,
  ];
};

/** Unlogged: losing a note loses a snapshot and no change. */
const walkTable: MakeStep = (dialect) => {
  const { uuid, bigint, unlogged, keyedEnd } = WORDS[dialect];
  return [
    `CREATE ${unlogged}TABLE walks (
     token_id ${uuid} NOT NULL,
     min_stamp ${bigint} NOT NULL,
     max_stamp ${bigint} NOT NULL,
     stamp ${bigint} NOT NULL,
     begun_at ${bigint} NOT NULL,
     PRIMARY KEY (token_id, min_stamp, max_stamp)
   )${keyedEnd}`,
    `CREATE INDEX walks_by_time ON walks (begun_at)`,
  ];
};

const firstTables: MakeStep = (dialect) => {
  const { integer, bigint, text, sortedText, uuid, number, numberOfEntry, end } = WORDS[dialect];
  const { nullsFirst, include } = WORDS[dialect];
  return [
    ...versionTable(dialect),
    `CREATE TABLE revisions (name ${text} PRIMARY KEY, value ${bigint} NOT NULL)${end}`,
    `INSERT INTO revisions (name, value) VALUES ('catalogue', 0), ('tokens', 0)`,
    `CREATE TABLE organisations (
     id ${number},
     name ${sortedText} NOT NULL UNIQUE,
     created_at ${bigint} NOT NULL,
     last_stamp ${bigint} NOT NULL
   )${end}`,
    `CREATE TABLE tokens (
     id ${uuid} PRIMARY KEY,
     org_id ${integer} NOT NULL REFERENCES organisations (id),
     kind ${text} NOT NULL CHECK (kind IN ('public', 'private')),
     label ${text} NOT NULL,
     digest ${text} NOT NULL UNIQUE,
     created_at ${bigint} NOT NULL,
     expires_at ${bigint},
     revoked_at ${bigint},
     last_used_at ${bigint}
   )${end}`,
    `CREATE TABLE retailers (id ${uuid} PRIMARY KEY, document ${text} NOT NULL)${end}`,
    // No reference to organisations, nor in the history: every write holds the lock of its organisation's row, and a check
    // of each row would take an eighth of an import.
    `CREATE TABLE transactions (
     id ${uuid} PRIMARY KEY,
     org_id ${integer} NOT NULL,
     updated_at ${bigint} NOT NULL,
     document ${text} NOT NULL,
     import_id ${integer}
   )${end}`,
    `CREATE INDEX transactions_by_id ON transactions (org_id, id)`,
    `CREATE INDEX transactions_by_stamp ON transactions (org_id, updated_at, id${nullsFirst})`,
    ...SPAN_SHIFTS.map(
      (shift) =>
        `CREATE INDEX transactions_by_span_${shift} ON transactions (org_id, (updated_at >> ${shift}), id${nullsFirst})${include}`,
    ),
    `CREATE TABLE history (
     id ${uuid} NOT NULL,
     until_stamp ${bigint} NOT NULL,
     org_id ${integer} NOT NULL,
     from_stamp ${bigint} NOT NULL,
     import_id ${integer},
     document ${text} NOT NULL,
     PRIMARY KEY (id, until_stamp)
   )${end}`,
    `CREATE INDEX history_by_id ON history (org_id, until_stamp, id${nullsFirst}, from_stamp)`,
    `CREATE INDEX history_by_from ON history (org_id, until_stamp, from_stamp, id)`,
    `CREATE TABLE imports (
     id ${numberOfEntry},
     kind ${text} NOT NULL,
     org_id ${integer} REFERENCES organisations (id),
     began_at ${bigint} NOT NULL,
     ended_at ${bigint},
     outcome ${text} NOT NULL,
     document ${text} NOT NULL
   )${end}`,
    `CREATE INDEX imports_by_time ON imports (began_at)`,
    `CREATE TABLE audit (
     id ${numberOfEntry},
     at ${bigint} NOT NULL,
     made_by ${text} NOT NULL,
     action ${text} NOT NULL,
     org ${text},
     details ${text} NOT NULL
   )${end}`,
    `CREATE INDEX audit_by_time ON audit (at)`,
    // SQLite has them in a file of their own: see SQLITE_WALKS.
    ...(dialect === 'postgres' ? walkTable(dialect) : []),
  ];
};

/**
 * Ids sort by time, so that new clicks fall side by side. No reference to organisations: it would lock their row for every
 * click. Taps are unlogged: losing one turns a double tap into two clicks.
 */
const clickTables: MakeStep = (dialect) => {
  const { integer, bigint, text, sortedText, uuid, unlogged, keyedEnd } = WORDS[dialect];
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
  ];
};

/** A random UUID in SQLite's words: of version 4, like those of PostgreSQL's gen_random_uuid(). */
const SQLITE_RANDOM_UUID = `lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)
  || '-' || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`;

const activation: MakeStep = (dialect) => {
  const { text, uuid, end } = WORDS[dialect];
  const publicIds = {
    sqlite: [
      `ALTER TABLE organisations ADD COLUMN public_id TEXT`,
      `UPDATE organisations SET public_id = ${SQLITE_RANDOM_UUID}`,
    ],
    postgres: [`ALTER TABLE organisations ADD COLUMN public_id uuid NOT NULL DEFAULT gen_random_uuid()`],
  };
  const secret = {
    sqlite: 'lower(hex(randomblob(32)))',
    // A UUID has 122 random bits.
    postgres: 'gen_random_uuid()::text || gen_random_uuid()::text',
  };
  return [
    ...publicIds[dialect],
    `CREATE UNIQUE INDEX organisations_by_public_id ON organisations (public_id)`,
    `CREATE TABLE links (
     id ${uuid} PRIMARY KEY,
     kind ${text} NOT NULL CHECK (kind IN ('retailer', 'deal')),
     template ${text} NOT NULL
   )${end}`,
    `CREATE TABLE secrets (name ${text} PRIMARY KEY, value ${text} NOT NULL)${end}`,
    `INSERT INTO secrets (name, value) VALUES ('click', ${secret[dialect]})`,
    `INSERT INTO revisions (name, value) VALUES ('activation', 0)`,
    // SQLite has them in a file of their own: see SQLITE_CLICKS.
    ...(dialect === 'postgres' ? clickTables(dialect) : []),
  ];
};

/**
 * Who was erased, and which organisations are being deleted. Programs before this step would import again what was
 * erased.
 */
const erasure: MakeStep = (dialect) => {
  const { integer, bigint, text, keyedEnd } = WORDS[dialect];
  return [
    `ALTER TABLE organisations ADD COLUMN deleting_since ${bigint}`,
    `CREATE TABLE erasures (
     org_id ${integer} NOT NULL REFERENCES organisations (id),
     digest ${text} NOT NULL,
     erased_at ${bigint} NOT NULL,
     PRIMARY KEY (org_id, digest)
   )${keyedEnd}`,
  ];
};

const USER_COLUMNS = [
  ['clicks', 'passback_uid'],
  ['clicks', 'passback_data'],
  ['transactions', 'document'],
  ['history', 'document'],
] as const;

/**
 * PostgreSQL's ANALYZE copies sampled values into pg_statistic, where no erasure reaches them and VACUUM leaves them. So it
 * collects none of columns that name users; no plan needs them. The change of a type to itself rewrites no row, but drops
 * what was collected.
 */
const noUserStatistics: MakeStep = (dialect) =>
  dialect === 'sqlite'
    ? []
    : USER_COLUMNS.flatMap(([table, column]) => [
        `ALTER TABLE ${table} ALTER COLUMN ${column} SET STATISTICS 0`,
        `ALTER TABLE ${table} ALTER COLUMN ${column} TYPE text`,
      ]);

/**
 * When the source last changed a transaction, so that older data does not replace newer. Programs before this step leave
 * the column as it is.
 */
const sourceTimes: MakeStep = (dialect) => [
  `ALTER TABLE transactions ADD COLUMN source_updated_at ${WORDS[dialect].bigint}`,
];

/**
 * How fresh each feed is. An organisation's number is 0, and a source is empty, where an import has none. The import log
 * loses the problems of earlier imports, which may quote rows that name erased users.
 */
const importFeeds: MakeStep = (dialect) => {
  const { integer, bigint, text, keyedEnd } = WORDS[dialect];
  const source = { sqlite: `json_extract(document, '$.source')`, postgres: `document::json ->> 'source'` };
  const withoutProblems = {
    sqlite: `json_set(document, '$.problems', json('[]'))`,
    postgres: `jsonb_set(document::jsonb, '{problems}', '[]')::text`,
  };
  const ended = `SELECT id, kind, coalesce(org_id, 0) AS org_id, coalesce(${source[dialect]}, '') AS source, ended_at, outcome
    FROM imports WHERE ended_at IS NOT NULL`;
  return [
    `CREATE TABLE import_feeds (
     kind ${text} NOT NULL,
     org_id ${integer} NOT NULL,
     source ${text} NOT NULL,
     last_success ${bigint},
     last_outcome ${text} NOT NULL,
     last_ended ${bigint} NOT NULL,
     PRIMARY KEY (kind, org_id, source)
   )${keyedEnd}`,
    `INSERT INTO import_feeds (kind, org_id, source, last_success, last_outcome, last_ended)
     SELECT feed.kind, feed.org_id, feed.source, feed.last_success, last.outcome, last.ended_at
     FROM (
       SELECT kind, org_id, source, max(CASE WHEN outcome = 'done' THEN ended_at END) AS last_success, max(id) AS last_id
       FROM (${ended} UNION SELECT id, kind, org_id, '', ended_at, outcome FROM (${ended}) AS any_source) AS ended
       GROUP BY kind, org_id, source
     ) AS feed JOIN imports AS last ON last.id = feed.last_id`,
    `DELETE FROM revisions WHERE name LIKE 'imports % last success'`,
    `UPDATE imports SET document = ${withoutProblems[dialect]}`,
  ];
};

const STEPS: readonly MakeStep[] = [
  firstTables,
  activation,
  erasure,
  noUserStatistics,
  sourceTimes,
  importFeeds,
];

export const SCHEMAS = inBoth<Schema>((dialect) => ({
  firstVersion: 5,
  oldestVersion: 7,
  replacesUnreleased: false,
  steps: STEPS.map((makeStep) => makeStep(dialect)),
}));

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
      ...versionTable('sqlite'),
      ...walkTable('sqlite'),
    ],
  ],
};

/** Clicks of SQLite, for the same reason: a user who follows a link must not wait for an import. */
export const SQLITE_CLICKS: Schema = {
  firstVersion: 1,
  oldestVersion: 1,
  replacesUnreleased: false,
  steps: [[...versionTable('sqlite'), ...clickTables('sqlite')]],
};

/** A spool has the same tables, and one for rows that are not clicks of ours. */
export const SQLITE_SPOOL: Schema = {
  firstVersion: 1,
  oldestVersion: 1,
  replacesUnreleased: false,
  steps: [
    [...versionTable('sqlite'), ...clickTables('sqlite')],
    [
      `CREATE TABLE rejected_clicks (
     id TEXT, org_id INTEGER, kind TEXT, deal_id TEXT, retailer_id TEXT, passback_uid TEXT, passback_data TEXT,
     activated_at INTEGER, clicked_at INTEGER, is_tracked INTEGER, has_sale INTEGER, reason TEXT NOT NULL
   ) STRICT`,
    ],
  ],
};
