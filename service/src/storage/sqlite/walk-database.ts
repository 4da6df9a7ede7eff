// Where walks are noted down: On PostgreSQL that is a table beside the others. On SQLite an import holds the only
// write lock while it runs, so walks have a file of their own, made when it is needed.

import type { Database, DatabaseOptions } from '../database.ts';
import { migrate } from '../schema/migrate.ts';
import { SQLITE_WALKS } from '../schema/schema.ts';
import { openSqlite } from './sqlite.ts';

export class WalkDatabase {
  readonly #url: string;
  readonly #main: Database;
  readonly #options: DatabaseOptions;
  #opened: Promise<Database> | undefined;

  constructor(url: string, main: Database, options: DatabaseOptions) {
    this.#url = url;
    this.#main = main;
    this.#options = options;
  }

  async open(): Promise<Database> {
    if (this.#main.dialect === 'postgres') return this.#main;
    this.#opened ??= this.#openFile();
    try {
      return await this.#opened;
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    await (await this.#opened?.catch(() => undefined))?.close();
  }

  async #openFile(): Promise<Database> {
    const file = openSqlite(`${this.#url.slice('sqlite:'.length)}-walks`, {
      ...this.#options,
      create: true,
      durable: false,
    });
    try {
      await migrate(file, undefined, SQLITE_WALKS);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }
}
