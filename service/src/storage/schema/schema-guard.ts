// Keeps a running program from reading a database whose schema a newer program has meanwhile changed beyond what
// this one can use. Noticed with the revisions, at which a server looks twice a second.

import { DatabaseUnavailable } from '../../domain/failures.ts';
import type { Database } from '../database.ts';
import { SCHEMAS, versionOf } from './schema.ts';

export class SchemaGuard {
  readonly #database: Database;
  #oldestVersion = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  async look(): Promise<void> {
    const [row] = await this.#database.all<{ oldest_version: number }>(
      'SELECT oldest_version FROM schema_version',
    );
    this.#oldestVersion = row?.oldest_version ?? 0;
    this.check();
  }

  check(): void {
    if (this.#oldestVersion <= versionOf(SCHEMAS[this.#database.dialect])) return;
    throw new DatabaseUnavailable(
      `the database has been brought to schema version ${this.#oldestVersion} for a newer Offerbook; this one must be replaced by it`,
    );
  }
}
