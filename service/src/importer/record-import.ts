// Records an import in the import log. Opens an entry before the import. A successful import closes the entry in the same
// database transaction as its changes. This file closes the entry after a failure.

import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import { type ImportLog, type ImportOrigin, type ImportResult, NO_COUNTS } from '../domain/import-log.ts';
import { isStorageError } from '../domain/storage-error.ts';
import { type ImportReport, InvalidRows, resultOf } from './import-report.ts';

export async function recordImport(
  log: ImportLog,
  origin: ImportOrigin,
  source: ImportSource,
  work: (importId: number) => Promise<ImportReport>,
): Promise<ImportReport> {
  const id = await log.begin(origin);
  try {
    return await work(id);
  } catch (error) {
    const isRefusal =
      error instanceof BadInput ||
      error instanceof Refused ||
      isStorageError(error, 'busy', 'conflict', 'gone');
    // If closing fails too, the import's error is more useful.
    await log.close(id, isRefusal ? 'refused' : 'failed', refusal(error, source)).catch(() => undefined);
    throw error;
  }
}

function refusal(error: unknown, source: ImportSource): ImportResult {
  if (error instanceof InvalidRows) {
    const { report, why } = error;
    return resultOf({ ...report, ...NO_COUNTS, read: report.read, invalid: report.invalid }, source, why);
  }
  const reason = error instanceof Error ? error.message : String(error);
  return { counts: NO_COUNTS, fileDigest: source.digest, problems: [], problemCount: 0, reason };
}
