// Records an import in the import log. The entry is opened before the import; the import's own transaction closes it on
// success, and this file closes it on failure.

import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import type { ImportLog, ImportOrigin, ImportResult } from '../domain/import-log.ts';
import { isStorageError } from '../domain/storage-error.ts';
import { type ImportReport, InvalidRows, resultOf } from './import-report.ts';

const NOTHING = { read: 0, added: 0, changed: 0, unchanged: 0, stale: 0, withdrawn: 0, invalid: 0 };

export async function recordImport(
  book: ImportLog,
  origin: ImportOrigin,
  source: ImportSource,
  work: (importId: number) => Promise<ImportReport>,
): Promise<ImportReport> {
  const id = await book.begin(origin);
  try {
    return await work(id);
  } catch (error) {
    const isRefusal =
      error instanceof BadInput ||
      error instanceof Refused ||
      isStorageError(error, 'busy', 'conflict', 'gone');
    // Report the error of the import, even if the log cannot be written either.
    await book.close(id, isRefusal ? 'refused' : 'failed', refusal(error, source)).catch(() => undefined);
    throw error;
  }
}

function refusal(error: unknown, source: ImportSource): ImportResult {
  if (error instanceof InvalidRows) {
    // The valid rows were not stored either.
    const { added: _, changed: __, unchanged: ___, stale: ____, withdrawn: _____, ...kept } = error.report;
    return resultOf({ ...NOTHING, ...kept }, source, error.why);
  }
  const reason = error instanceof Error ? error.message : String(error);
  return { counts: NOTHING, fileDigest: source.digest, problems: [], problemCount: 0, reason };
}
