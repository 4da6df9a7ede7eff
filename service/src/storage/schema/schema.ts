// A schema: the declared tables of a database or file, and the steps that change an older version of them. Released versions are
// never edited and their numbers are never used again.

import type { Queries, Sql } from '../sql.ts';
import type { Structure } from './structure.ts';
import type { Table } from './table.ts';

/** Versions 1 to 7 are older than 0.2.0; see old-releases.ts. */
export const FIRST_VERSION = 8;

type Step = readonly string[];

export interface Schema {
  readonly tables: readonly Table[];
  readonly sql: Sql;
  readonly structure: Structure;
  /** Statements that lead from version 8 to 9, from 9 to 10, and so on. Never edit a step that has been released; add one. */
  readonly steps: readonly Step[];
  /**
   * Schema version of the oldest program that can use this schema. A step that older programs can ignore, such as a new table,
   * leaves this number unchanged, so that old and new programs can run side by side. Any other step must raise this number to
   * that step's version.
   */
  readonly oldestVersion: number;
}

export function newSchema(tables: readonly Table[], sql: Sql, structure: Structure): Schema {
  return { tables, sql, structure, steps: [], oldestVersion: FIRST_VERSION };
}

export function versionOf({ steps }: Schema): number {
  return FIRST_VERSION + steps.length;
}

export async function setVersion(connection: Queries, schema: Schema): Promise<void> {
  await connection.all('DELETE FROM schema_version');
  await connection.all(
    'INSERT INTO schema_version (version, oldest_version) VALUES ($1, $2)',
    versionOf(schema),
    schema.oldestVersion,
  );
}
