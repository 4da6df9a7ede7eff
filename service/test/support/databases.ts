// Lets a test file run against every database: the same promises, kept by each.

import { mkdtempSync } from 'node:fs';
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

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'offerbook-test-'));
}
