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

export const SQLITE: TestDatabase = { name: 'SQLite', create: newSqliteUrl, createEmpty: newSqliteUrl };

const ALL: readonly TestDatabase[] = [
  SQLITE,
  { name: 'PostgreSQL', create: newPostgresSchema, createEmpty: newPostgresDatabase },
];

export async function newSqliteUrl(): Promise<string> {
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

const folders: { temporary?: string; kept?: string } = {};

/** Creates a temporary folder, which is deleted at the end of the run, or of the test file in one of the runner's processes. */
export function temporaryFolder(): string {
  folders.temporary ??= newRunFolder();
  return mkdtempSync(join(folders.temporary, 'folder-'));
}

/** Creates a temporary folder for all test files of this process. */
export function keptFolder(): string {
  folders.kept ??= newRunFolder();
  return mkdtempSync(join(folders.kept, 'folder-'));
}

function newRunFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'offerbook-test-'));
  // Some tests read a folder as another user.
  chmodSync(folder, 0o755);
  return folder;
}

export function removeTemporaryFolders(): void {
  if (folders.temporary !== undefined) rmSync(folders.temporary, { recursive: true, force: true });
  delete folders.temporary;
  // The runner deletes the folders of its processes.
  if (process.env.BUN_TEST_WORKER_ID !== undefined || folders.kept === undefined) return;
  rmSync(folders.kept, { recursive: true, force: true });
  delete folders.kept;
}
