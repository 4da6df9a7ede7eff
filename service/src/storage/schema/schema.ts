// A schema: ordered migration steps, built once for each database from its `Sql` object. The tables are defined in tables.ts.

import type { Sql } from '../sql.ts';
import { createTable, type Table } from './table.ts';

type Step = readonly string[];

export interface Schema {
  /** Never edit a step that has been released; add a new step. After n steps, a database has schema version n. */
  readonly steps: readonly Step[];
  /**
   * Schema version of the oldest program that can use this schema. A step that older programs can ignore, such as a new table,
   * leaves this number unchanged, so that old and new programs can run side by side. Any other step must raise this number to
   * that step's version.
   */
  readonly oldestVersion: number;
}

export function newSchema(tables: readonly Table[], sql: Sql): Schema {
  return { oldestVersion: 1, steps: [tables.flatMap((each) => createTable(each, sql))] };
}

export function versionOf({ steps }: Schema): number {
  return steps.length;
}
