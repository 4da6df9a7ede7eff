// Copies everything from one database into another that is empty, of whichever kind the two are: organisations with
// their change clocks, tokens, the catalogue, links, transactions with their stamps, the books, and clicks. Whoever polls goes
// on with the same token from the same watermark, and the ids of clicks stay good. All or nothing; what is written to the
// first meanwhile is not in the copy.

import { BadInput, Refused } from '../domain/failures.ts';
import type { Uuid } from '../domain/uuid.ts';
import { copyAudit, copyHistory, copyImports, type NewNumber } from './copy-books.ts';
import { copyClicks } from './copy-clicks.ts';
import {
  type Connection,
  columnsOf,
  type Database,
  LINKS,
  noDatabase,
  RETAILERS,
  type SqlValue,
  type TableRow,
  TRANSACTIONS,
} from './database.ts';
import { insertRow } from './insert-row.ts';
import { openDatabase } from './open-database.ts';
import { COMMAND_OPTIONS, CREATE_OPTIONS } from './open-stores.ts';
import { findSchemaState, migrate } from './schema/migrate.ts';
import { forUpdate } from './sql-dialect.ts';
import { type Auditor, writeAudit } from './stores/audit-book.ts';
import { ALL_RETAILERS } from './stores/catalogue-store.ts';
import { copyErasedUsers } from './stores/erased-users.ts';
import { listLinks } from './stores/link-store.ts';
import { readBatches } from './stores/read-batches.ts';
import { DELETED_NUMBER, raiseRevision } from './stores/revision.ts';
import { readClickKey } from './stores/secret.ts';
import { exportQuery } from './stores/transaction-store.ts';

export interface CopyReport {
  readonly organisations: number;
  readonly tokens: number;
  readonly retailers: number;
  readonly transactions: number;
  readonly clicks: number;
}

type Row = Readonly<Record<string, SqlValue>>;

/** Makes PostgreSQL number the next organisation behind those that were copied. */
const NUMBER_ON = `SELECT setval(pg_get_serial_sequence('organisations', 'id'), greatest(
    (SELECT max(id) FROM organisations), (SELECT value FROM revisions WHERE name = '${DELETED_NUMBER}')
  ))`;

export async function copyDatabase(
  fromUrl: string,
  toUrl: string,
  auditor: Auditor,
  onRows: (rows: number) => void = () => {},
): Promise<CopyReport> {
  const source = openDatabase(fromUrl, COMMAND_OPTIONS);
  try {
    const target = openDatabase(toUrl, CREATE_OPTIONS);
    try {
      return await copyAll([source, fromUrl], [target, toUrl], auditor, onRows);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

type Place = readonly [database: Database, url: string];

async function copyAll(
  [source, fromUrl]: Place,
  [target, toUrl]: Place,
  auditor: Auditor,
  onRows: (rows: number) => void,
): Promise<CopyReport> {
  if ((await findSchemaState(source)) === 'none') throw noDatabase(await source.describePlace());
  await migrate(source, auditor);
  await migrate(target, auditor);
  return source.readOnce((from) =>
    target.write(async (to) => {
      // Of two copies at once, the second waits here for the first, and finds that it is too late.
      await to.all(`SELECT value FROM revisions ${forUpdate(target.dialect)}`);
      if (!(await isEmpty(to))) throw new Refused('the database to copy to is not empty: nothing was copied');
      if (await isEmpty(from))
        throw new BadInput('there is nothing to copy: the database to copy from is empty');
      const copy = new Copy(from, { to, dialect: target.dialect }, onRows);
      const counts = await copy.run();
      if (target.dialect === 'postgres') await to.all(NUMBER_ON);
      // By another connection, which commits them first. Until the rest is committed, the database counts as empty, so that a
      // copy that breaks off can be repeated.
      const clicks = await copyClicks(fromUrl, toUrl, (rows) => copy.progress(rows));
      const report = { ...counts, clicks };
      await writeAudit(to, auditor, 'database copied', null, report);
      return report;
    }),
  );
}

async function isEmpty(connection: Connection): Promise<boolean> {
  for (const table of ['organisations', 'retailers']) {
    if ((await connection.all(`SELECT id FROM ${table} LIMIT 1`)).length > 0) return false;
  }
  return true;
}

class Copy {
  readonly #from: Connection;
  readonly #to: Connection;
  /** Lets PostgreSQL take an organisation's number as it is given. */
  readonly #asGiven: '' | 'OVERRIDING SYSTEM VALUE';
  readonly #onRows: (rows: number) => void;
  #rows = 0;

  constructor(
    from: Connection,
    { to, dialect }: { to: Connection; dialect: Database['dialect'] },
    onRows: (rows: number) => void,
  ) {
    this.#from = from;
    this.#to = to;
    this.#asGiven = dialect === 'postgres' ? 'OVERRIDING SYSTEM VALUE' : '';
    this.#onRows = onRows;
  }

  async run(): Promise<Omit<CopyReport, 'clicks'>> {
    const retailers = await this.#copyRetailers();
    const organisations = await this.#copyOrganisations();
    await this.#copyActivation();
    const newNumber = await copyImports(this.#from, this.#to);
    const tokens = await this.#copyTokens();
    let transactions = 0;
    for (const orgId of organisations) {
      transactions += await this.#copyTransactions(orgId, newNumber);
      await copyHistory(this.#from, this.#to, orgId, newNumber, (rows) => this.progress(rows));
    }
    await copyAudit(this.#from, this.#to);
    await raiseRevision(this.#to, 'catalogue');
    await raiseRevision(this.#to, 'tokens');
    await raiseRevision(this.#to, 'activation');
    return { organisations: organisations.length, tokens, retailers, transactions };
  }

  /** They keep their numbers, which the ids of clicks hold. Returns the numbers. */
  async #copyOrganisations(): Promise<readonly number[]> {
    const rows = await this.#from.all<Row & { id: number }>(
      'SELECT id, name, created_at, last_stamp, public_id, deleting_since FROM organisations ORDER BY id',
    );
    for (const row of rows) await insertRow(this.#to, 'organisations', row, this.#asGiven);
    return rows.map(({ id }) => id);
  }

  async #copyActivation(): Promise<void> {
    await this.#to.all("UPDATE secrets SET value = $1 WHERE name = 'click'", await readClickKey(this.#from));
    await copyErasedUsers(this.#from, this.#to);
    await this.#to.putMany(LINKS, await listLinks(this.#from));
  }

  async #copyRetailers(): Promise<number> {
    let count = 0;
    await readBatches(this.#from, ALL_RETAILERS, async (batch) => {
      count += await this.#to.putMany(RETAILERS, batch);
      this.progress(batch.length);
    });
    return count;
  }

  async #copyTokens(): Promise<number> {
    const rows = await this.#from.all<Row>(
      'SELECT id, org_id, kind, label, digest, created_at, expires_at, revoked_at, last_used_at FROM tokens',
    );
    for (const row of rows) await insertRow(this.#to, 'tokens', row);
    return rows.length;
  }

  async #copyTransactions(orgId: number, newNumber: NewNumber): Promise<number> {
    let count = 0;
    type Row = TableRow<keyof typeof TRANSACTIONS.columns> & { id: Uuid; import_id: number | null };
    const query = exportQuery(orgId, columnsOf(TRANSACTIONS).join(', '));
    await readBatches<Row>(this.#from, query, async (batch) => {
      count += await this.#to.putMany(
        TRANSACTIONS,
        batch.map((row) => ({ ...row, import_id: newNumber(row.import_id) })),
      );
      this.progress(batch.length);
    });
    return count;
  }

  progress(rows: number): void {
    this.#rows += rows;
    this.#onRows(this.#rows);
  }
}
