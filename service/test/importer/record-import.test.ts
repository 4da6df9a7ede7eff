// How a failed import is recorded in the import log.

import { afterAll, expect, test } from 'bun:test';
import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { StorageError } from '../../src/domain/storage-error.ts';
import { recordImport } from '../../src/importer/import-report.ts';
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
  ['refused', 'the file is invalid', new BadInput('the file is invalid')],
  ['refused', 'a safety check fails', new Refused('too many withdrawals')],
  ['refused', 'the database is locked', new StorageError('busy', 'another process holds the lock')],
  ['refused', 'stored rows conflict', new StorageError('conflict', 'the row exists')],
  ['refused', 'the organisation is gone', new StorageError('gone', 'the organisation was deleted')],
  ['failed', 'the database is unreachable', new StorageError('unavailable', 'connection refused')],
  ['failed', 'there is a bug', new Error('undefined is not a function')],
] as const)('records an import as %s if %s', async (outcome, _, error) => {
  let id = 0;
  const run = recordImport(stores.imports, ORIGIN, sourceFrom(''), (importId) => {
    id = importId;
    return Promise.reject(error);
  });
  await expect(run).rejects.toBe(error);
  expect(await stores.imports.find(id)).toMatchObject({ outcome, reason: error.message });
});

test("rethrows the import's error even if writing the import log also fails", async () => {
  const error = new BadInput('the file is invalid');
  const log = { ...stores.imports, close: () => Promise.reject(new Error('the log is full')) };
  const run = recordImport(log, ORIGIN, sourceFrom(''), () => Promise.reject(error));
  await expect(run).rejects.toBe(error);
});
