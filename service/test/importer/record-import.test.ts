// How a failed import is recorded in the import log.

import { afterAll, expect, test } from 'bun:test';
import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { StorageError } from '../../src/domain/storage-error.ts';
import { recordImport } from '../../src/importer/record-import.ts';
import { closeBooks, newBook } from './fixture.ts';

afterAll(closeBooks);

const { stores } = await newBook();
const ORIGIN = {
  kind: 'catalogue',
  orgId: null,
  by: 'test',
  source: null,
  fileName: 'rows',
  version: '1',
} as const;

test.each([
  [new BadInput('the file is invalid'), 'refused'],
  [new Refused('too many withdrawals'), 'refused'],
  [new StorageError('busy', 'another process holds the lock'), 'refused'],
  [new StorageError('conflict', 'the row exists'), 'refused'],
  [new StorageError('gone', 'the organisation was deleted'), 'refused'],
  [new StorageError('unavailable', 'the database is unreachable'), 'failed'],
  [new Error('a bug'), 'failed'],
] as const)('an import that throws %p is recorded as %s', async (error, outcome) => {
  let id = 0;
  const run = recordImport(stores.imports, ORIGIN, sourceFrom(''), (importId) => {
    id = importId;
    return Promise.reject(error);
  });
  await expect(run).rejects.toBe(error);
  expect(await stores.imports.find(id)).toMatchObject({ outcome, reason: error.message });
});

test('if the import log cannot be written either, the error of the import is thrown', async () => {
  const error = new BadInput('the file is invalid');
  const log = { ...stores.imports, close: () => Promise.reject(new Error('the log is full')) };
  const run = recordImport(log, ORIGIN, sourceFrom(''), () => Promise.reject(error));
  await expect(run).rejects.toBe(error);
});
