// The local copy of the transactions. Changes may come more than once, so a row is replaced by its id: doing
// it twice is as good as doing it once.

import { Database } from 'bun:sqlite';
import type { Transaction } from '@offerbook/client';

export class TransactionTable {
  readonly #database: Database;

  constructor(path: string) {
    this.#database = new Database(path, { strict: true });
    this.#database.run('PRAGMA journal_mode = WAL');
    this.#database.run(`CREATE TABLE IF NOT EXISTS transactions (
      id TEXT PRIMARY KEY, user TEXT, status TEXT NOT NULL, currency TEXT NOT NULL,
      cashback REAL NOT NULL, document TEXT NOT NULL)`);
    this.#database.run('CREATE INDEX IF NOT EXISTS transactions_user ON transactions (user)');
    this.#database.run(
      'CREATE TABLE IF NOT EXISTS checkpoint (only INTEGER PRIMARY KEY CHECK (only = 1), stamp TEXT)',
    );
  }

  /** A page of changes in one database transaction: many times faster than one by one. */
  upsert(changes: readonly Transaction[]): void {
    const replace = this.#database.query(
      'INSERT OR REPLACE INTO transactions VALUES ($id, $user, $status, $currency, $cashback, $document)',
    );
    this.#database.transaction(() => {
      for (const change of changes) {
        replace.run({
          id: change.id,
          user: change.passbackUid,
          status: change.status,
          currency: change.currencyCode,
          cashback: change.cashback,
          document: JSON.stringify(change),
        });
      }
    })();
  }

  get checkpoint(): string | undefined {
    return this.#database.query<{ stamp: string }, []>('SELECT stamp FROM checkpoint').get()?.stamp;
  }

  saveCheckpoint(stamp: string): void {
    this.#database.query('INSERT OR REPLACE INTO checkpoint VALUES (1, $stamp)').run({ stamp });
  }

  /** A user's cashback, by status and currency. */
  earnings(user: string): Record<string, Record<string, number>> {
    const sums = this.#database
      .query<{ status: string; currency: string; cashback: number }, { user: string }>(
        `SELECT status, currency, round(sum(cashback), 2) AS cashback
         FROM transactions WHERE user = $user GROUP BY status, currency`,
      )
      .all({ user });
    const earned: Record<string, Record<string, number>> = {};
    for (const { status, currency, cashback } of sums)
      earned[status] = { ...earned[status], [currency]: cashback };
    return earned;
  }

  close(): void {
    this.#database.close();
  }
}
