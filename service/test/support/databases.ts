// Lets a test file run the same tests against every supported database.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newPostgresDatabase, newPostgresSchema } from './postgres-server.ts';

export interface TestDatabase {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** Returns the URL of a new database without data, for tests that open its stores. It may already have a schema. */
  create(): Promise<string>;
  /** Returns the URL of a new database without a schema. */
  createEmpty(): Promise<string>;
}

const ALL: readonly TestDatabase[] = [
  { name: 'SQLite', create: newSqliteUrl, createEmpty: newSqliteUrl },
  { name: 'PostgreSQL', create: newPostgresSchema, createEmpty: newPostgresDatabase },
];

async function newSqliteUrl(): Promise<string> {
  return `sqlite:${join(temporaryFolder(), 'test.db')}`;
}

/** All databases, or only those named in TEST_DATABASES, for example `SQLite`. */
export const DATABASES: readonly TestDatabase[] = chosenDatabases(process.env.TEST_DATABASES);

function chosenDatabases(names: string | undefined): readonly TestDatabase[] {
  if (names === undefined) return ALL;
  const wanted = names.split(',');
  const unknown = wanted.find((name) => !ALL.some((database) => database.name === name));
  if (unknown !== undefined) throw new Error(`TEST_DATABASES names ${unknown}, which is no database`);
  return ALL.filter((database) => wanted.includes(database.name));
}

let ofThisRun: string | undefined;

/** Creates a temporary folder, which is deleted at the end of the run. */
export function temporaryFolder(): string {
  ofThisRun ??= newRunFolder();
  return mkdtempSync(join(ofThisRun, 'folder-'));
}

function newRunFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'offerbook-test-'));
  // Some tests read a folder as another user.
  chmodSync(folder, 0o755);
  return folder;
}

export function removeTemporaryFolders(): void {
  if (ofThisRun !== undefined) rmSync(ofThisRun, { recursive: true, force: true });
  ofThisRun = undefined;
}
