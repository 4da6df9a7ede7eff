// Storage errors, by kind. The command line maps a kind to an exit code and advice; HTTP maps it to a status. Any other error
// that storage throws is a bug.

export type StorageErrorKind =
  /** The database is unreachable or too slow. */
  | 'unavailable'
  /** The queue for the database is full; later requests may succeed. */
  | 'overloaded'
  /** Another process holds a lock. */
  | 'busy'
  /** The user or role lacks a permission. */
  | 'denied'
  | 'full'
  | 'corrupt'
  /** The database does not exist. */
  | 'missing'
  /** The file or database is not an Offerbook database or a valid backup. */
  | 'invalid'
  /** The schema is older than this program's and cannot be upgraded here. */
  | 'outdated'
  | 'too new'
  /** The file or database to create already exists. */
  | 'exists'
  /** Existing rows conflict with the change. */
  | 'conflict'
  /** The organisation was deleted in the meantime. */
  | 'gone'
  /** A URL, or a setting of Offerbook or the database, is not usable. */
  | 'settings';

/** The failed operation has changed nothing, unless the message reports a change. */
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
