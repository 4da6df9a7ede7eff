// Limits how long requests wait for the database.

import { StorageError } from '../../domain/storage-error.ts';
import { withTimeout } from '../../domain/with-timeout.ts';

/** Clients get a response within two seconds, even if the database connection hangs. */
const DEADLINE_MS = 1_800;

export async function withinDeadline<T>(work: Promise<T>): Promise<T> {
  return await withTimeout(
    work,
    DEADLINE_MS,
    () => new StorageError('unavailable', 'the database did not respond in time'),
  );
}
