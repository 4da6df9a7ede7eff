// Maps a storage error to an exit code and to advice that names commands and options.

import type { StorageError, StorageErrorKind } from '../domain/storage-error.ts';

const EXIT_CODES: Readonly<Record<StorageErrorKind, 1 | 2 | 3>> = {
  unavailable: 1,
  overloaded: 1,
  full: 1,
  corrupt: 1,
  denied: 2,
  missing: 2,
  invalid: 2,
  outdated: 2,
  'too new': 2,
  gone: 2,
  settings: 2,
  busy: 3,
  exists: 3,
  conflict: 3,
};

const ADVICE: Partial<Record<StorageErrorKind, string>> = {
  corrupt: 'find the damage with: offerbook doctor --deep, and restore the latest backup',
  missing:
    'choose another with --database or OFFERBOOK_DATABASE_URL, or create one with: offerbook orgs create NAME',
  outdated: 'stop all servers and imports, then upgrade it with: offerbook migrate',
};

export function storageExitCode({ kind }: StorageError): 1 | 2 | 3 {
  return EXIT_CODES[kind];
}

/** Returns the error's message, followed by advice if there is any for this kind of error. */
export function storageMessage({ kind, message }: StorageError): string {
  const advice = ADVICE[kind];
  return advice === undefined ? message : `${message}; ${advice}`;
}
