// How long a request waits for the database, and what it is answered when that was in vain.

import { unavailable } from '../../domain/api-errors.ts';
import { DatabaseUnavailable } from '../../domain/failures.ts';
import { withTimeout } from '../../domain/with-timeout.ts';

/** The answer is on its way within two seconds, even if the connection to the database is still open. */
const DEADLINE_MS = 1_800;

export async function withinDeadline<T>(work: Promise<T>): Promise<T> {
  try {
    return await withTimeout(
      work,
      DEADLINE_MS,
      () => new DatabaseUnavailable('the database did not answer in time'),
    );
  } catch (error) {
    throw error instanceof DatabaseUnavailable
      ? unavailable('The database cannot be reached right now. Try again shortly.', 2, error)
      : error;
  }
}
