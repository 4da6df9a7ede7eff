// How storage fails. The command line turns a kind into an exit code and advice, HTTP into a status; storage knows neither. An
// error of storage that is not one of these is a mistake in the program.

export type StorageErrorKind =
  /** The database cannot be reached, or does not answer in time. */
  | 'unavailable'
  /** It works, but too many others wait for it. */
  | 'overloaded'
  /** Another process holds a lock. */
  | 'busy'
  /** This user or role may not do that. */
  | 'denied'
  | 'full'
  | 'corrupt'
  /** There is no database. */
  | 'missing'
  /** There is something else than an Offerbook database or a valid backup. */
  | 'invalid'
  /** The schema is older than this program's, which may not or cannot upgrade it here. */
  | 'outdated'
  /** The schema is from before the first release, and only a copy can be used. */
  | 'unreleased'
  | 'too new'
  /** There is something where something was to be created. */
  | 'exists'
  /** The rows that are there do not allow it. */
  | 'conflict'
  /** The organisation was deleted meanwhile. */
  | 'gone'
  /** A URL or a setting that cannot be used, of ours or of the database. */
  | 'settings';

/** Nothing has changed, unless the message says otherwise. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly kind: StorageErrorKind;

  constructor(kind: StorageErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export function isStorageError(error: unknown, ...kinds: readonly StorageErrorKind[]): error is StorageError {
  return error instanceof StorageError && (kinds.length === 0 || kinds.includes(error.kind));
}
