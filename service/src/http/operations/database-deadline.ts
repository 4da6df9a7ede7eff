// Limits how long requests wait for the database.

import { withTimeout } from '../../domain/promises.ts';
import { StorageError } from '../../domain/storage-error.ts';

/** Clients get a response within two seconds, even if the database connection hangs. */
const DEADLINE_MS = 1_800;

export async function withinDeadline<T>(work: Promise<T>): Promise<T> {
  return await withTimeout(
    work,
    DEADLINE_MS,
    () => new StorageError('unavailable', 'the database did not respond in time'),
  );
}
