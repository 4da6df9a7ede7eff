// How long a request waits for the database, and what it is answered when that was in vain.

import { ApiError } from '../../domain/api-errors.ts';
import { DatabaseUnavailable } from '../../domain/failures.ts';

/** The answer is on its way within two seconds, even if the connection to the database is still open. */
const DEADLINE_MS = 1_800;

export async function withinDeadline<T>(work: Promise<T>): Promise<T> {
  let timer: Timer | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new DatabaseUnavailable('the database did not answer in time')),
      DEADLINE_MS,
    );
  });
  try {
    return await Promise.race([work, deadline]);
  } catch (error) {
    throw error instanceof DatabaseUnavailable ? unavailable(error) : error;
  } finally {
    clearTimeout(timer);
  }
}

function unavailable(cause: unknown): ApiError {
  return new ApiError('unavailable', 'The database cannot be reached right now. Try again shortly.', {
    headers: { 'Retry-After': '2' },
    cause,
  });
}
