// Creates a Bun SQL client for one PostgreSQL server.

import type { SQL } from 'bun';
import { StorageError } from '../../domain/storage-error.ts';
import type { PostgresServer, PostgresUrl } from './postgres-url.ts';

export function newClient(
  { url, socket }: PostgresServer,
  { tls }: PostgresUrl,
  options: SQL.PostgresOrMySQLOptions,
): SQL {
  try {
    // Set explicitly, because Bun prefers PGDATABASE to the name in the URL.
    const database = decodeURIComponent(new URL(url).pathname.slice(1));
    // Uses the global, because importing SQL as a value would load the client at the start of every command, even with SQLite.
    return new Bun.SQL({
      ...options,
      adapter: 'postgres',
      url,
      tls,
      ...(socket !== undefined && { path: socket }),
      ...(database !== '' && { database }),
    });
  } catch {
    // Omits the parser's message, which contains the password.
    throw new StorageError(
      'settings',
      'the database URL is malformed; it must look like postgres://user:password@host:5432/name',
    );
  }
}
