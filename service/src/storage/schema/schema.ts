// A schema: ordered migration steps, built once for each database from its `Sql` object. The tables are defined in tables.ts.

type Step = readonly string[];

export interface Schema {
  /** Never edit a step that has been released; add a new one. A database with n steps has schema version n. */
  readonly steps: readonly Step[];
  /**
   * The oldest program that can use this schema, by the schema version it was released with. A step that older programs can
   * ignore, such as a new table, leaves it unchanged, so that old and new programs can run side by side. Any other step raises
   * it to its own version.
   */
  readonly oldestVersion: number;
}

export function versionOf({ steps }: Schema): number {
  return steps.length;
}
