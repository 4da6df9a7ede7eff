// Lets a test file run against every database: the same promises, kept by each.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newPostgresDatabase } from './postgres-server.ts';

export interface TestDatabase {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** The URL of a new, empty database. */
  create(): Promise<string>;
}

const ALL: readonly TestDatabase[] = [
  { name: 'SQLite', create: async () => `sqlite:${join(temporaryFolder(), 'test.db')}` },
  { name: 'PostgreSQL', create: newPostgresDatabase },
];

/** All of them, unless TEST_DATABASES names those to run with, such as `SQLite`. */
export const DATABASES: readonly TestDatabase[] = chosenDatabases(process.env.TEST_DATABASES);

function chosenDatabases(names: string | undefined): readonly TestDatabase[] {
  if (names === undefined) return ALL;
  const wanted = names.split(',');
  const unknown = wanted.find((name) => !ALL.some((database) => database.name === name));
  if (unknown !== undefined) throw new Error(`TEST_DATABASES names ${unknown}, which is no database`);
  return ALL.filter((database) => wanted.includes(database.name));
}

let ofThisRun: string | undefined;

/** Goes away with all others of the run. */
export function temporaryFolder(): string {
  ofThisRun ??= newRunFolder();
  return mkdtempSync(join(ofThisRun, 'folder-'));
}

function newRunFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'offerbook-test-'));
  // Some tests let another user look into a folder.
  chmodSync(folder, 0o755);
  return folder;
}

export function removeTemporaryFolders(): void {
  if (ofThisRun !== undefined) rmSync(ofThisRun, { recursive: true, force: true });
  ofThisRun = undefined;
}
