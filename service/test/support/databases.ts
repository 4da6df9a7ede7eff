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

export const DATABASES: readonly TestDatabase[] = [
  { name: 'SQLite', create: async () => `sqlite:${join(temporaryFolder(), 'test.db')}` },
  { name: 'PostgreSQL', create: newPostgresDatabase },
];

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
