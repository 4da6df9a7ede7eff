// A local copy of the transactions and its checkpoint, stored in one file so that a restored backup contains both. Changes
// may repeat, so rows are upserted by id. In production, use a table in your database.

import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';

/** @typedef {import('@offerbook/client').Transaction} Transaction */

export class TransactionTable {
  #path;
  /** @type {Map<string, Transaction>} */
  #rows;
  /** @type {string | undefined} */
  #checkpoint;

  /** @param {string} path */
  constructor(path) {
    this.#path = path;
    /** @type {{ checkpoint?: string, rows: Transaction[] }} */
    const stored = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { rows: [] };
    this.#rows = new Map(stored.rows.map((row) => [row.id, row]));
    this.#checkpoint = stored.checkpoint;
  }

  /** @param {readonly Transaction[]} changes */
  upsert(changes) {
    for (const change of changes) this.#rows.set(change.id, change);
  }

  get checkpoint() {
    return this.#checkpoint;
  }

  /**
   * Saves the rows together with the checkpoint. A crash leaves either the old file or the new one.
   * @param {string} checkpoint
   */
  saveCheckpoint(checkpoint) {
    this.#checkpoint = checkpoint;
    const file = openSync(`${this.#path}.new`, 'w', 0o600);
    writeSync(file, JSON.stringify({ checkpoint, rows: [...this.#rows.values()] }));
    fsyncSync(file);
    closeSync(file);
    renameSync(`${this.#path}.new`, this.#path);
  }

  /**
   * A user's cashback, by status and currency.
   * @param {string} user
   */
  earnings(user) {
    /** @type {Record<string, Record<string, number>>} */
    const earned = {};
    for (const { passbackUid, status, currencyCode, cashback } of this.#rows.values()) {
      if (passbackUid !== user) continue;
      earned[status] ??= {};
      earned[status][currencyCode] = roundMoney((earned[status][currencyCode] ?? 0) + cashback);
    }
    return earned;
  }
}

/**
 * Corrects rounding errors in sums of binary floating-point numbers.
 * @param {number} amount
 */
function roundMoney(amount) {
  return Math.round(amount * 1000) / 1000;
}
