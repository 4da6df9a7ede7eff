// Storage errors on the command line: one line with advice, and an exit code for each kind.

import { expect, test } from 'bun:test';
import { storageExitCode, storageMessage } from '../../src/cli/storage-failure.ts';
import { StorageError, type StorageErrorKind } from '../../src/domain/storage-error.ts';

const CREATE =
  'choose another with --database or OFFERBOOK_DATABASE_URL, or create one with: offerbook orgs create NAME';

test.each<[StorageErrorKind, 1 | 2 | 3, string]>([
  ['unavailable', 1, 'why'],
  ['overloaded', 1, 'why'],
  ['full', 1, 'why'],
  ['corrupt', 1, 'why; find the damage with: offerbook doctor --deep, and restore the latest backup'],
  ['denied', 2, 'why'],
  ['missing', 2, `why; ${CREATE}`],
  ['invalid', 2, 'why'],
  ['outdated', 2, 'why; stop all servers and imports, then upgrade it with: offerbook migrate'],
  ['too new', 2, 'why'],
  ['gone', 2, 'why'],
  ['settings', 2, 'why'],
  ['busy', 3, 'why'],
  ['exists', 3, 'why'],
  ['conflict', 3, 'why'],
])('a storage error of kind %p exits with code %p', (kind, code, words) => {
  const error = new StorageError(kind, 'why');
  expect([storageExitCode(error), storageMessage(error)]).toEqual([code, words]);
});
