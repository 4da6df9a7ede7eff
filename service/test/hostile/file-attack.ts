// Imports hostile files into one database, one after the other. Each import must end in time, apply the whole file or nothing,
// report where the file is invalid, and store only rows that match the documentation.

import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import fc from 'fast-check';
import { withTimeout } from '../../src/domain/with-timeout.ts';
import { openApiDocument } from '../../src/http/openapi/openapi-document.ts';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import { type ImportReport, InvalidRows } from '../../src/importer/import-report.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import {
  contentOf,
  NOW_MS,
  ndjson,
  newBook,
  retailer,
  type TestBook,
  transaction,
} from '../importer/fixture.ts';
import { schemaProblems } from '../support/documented-answers.ts';
import { anyFile, type FileKind } from './any-file.ts';

export interface FileAttackReport {
  files: number;
  imported: number;
  /** Files rejected for invalid rows, with line and field. */
  invalid: number;
  /** Files rejected as a whole: they cannot be decompressed, or would withdraw too much. */
  refused: number;
  /** Duration of the slowest import. */
  slowestMs: number;
}

/** Far longer than a file of a few rows takes, on any machine. */
const PATIENCE_MS = 60_000;
const PLACE = /^line \d+(?: \(item \d+\))?: ./;
const WHOLE_FILE =
  /cannot be decompressed: its (?:gzip|zstd) data is damaged or truncated$|^the file has no rows|^this file (?:would withdraw|is one page)/;

const { schemas } = (await openApiDocument()).components;
const SCHEMAS = { retailer: schemas?.Retailer as object, transaction: schemas?.Transaction as object };
const PROTOTYPE_NAMES = Object.getOwnPropertyNames(Object.prototype).sort().join();

export async function attackWithFiles(
  kind: FileKind,
  files: number,
  seed: number,
): Promise<FileAttackReport> {
  let nowMs = NOW_MS;
  const book = await newBook(() => nowMs);
  await fillBook(book);
  const report: FileAttackReport = { files: 0, imported: 0, invalid: 0, refused: 0, slowestMs: 0 };
  const anyOptions = fc.record({
    skipInvalid: fc.boolean(),
    ignoreUnknown: fc.boolean(),
    merge: fc.boolean(),
    allowWithdrawals: fc.boolean(),
    allowEmpty: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(anyFile(kind), anyOptions, async ({ bytes }, options) => {
      nowMs += 1_000;
      const before = await contentOf(book);
      const startedMs = performance.now();
      const run =
        kind === 'catalogue'
          ? importCatalogue(book.stores.catalogue, sourceFrom(bytes, 'the file'), options)
          : importTransactions(
              book.stores.transactions,
              book.org,
              sourceFrom(bytes, 'the file'),
              () => nowMs,
              options,
            );
      const outcome = await withTimeout(run, PATIENCE_MS, () => new Error('the import does not end')).catch(
        (error: unknown) => error,
      );
      report.files++;
      report.slowestMs = Math.max(report.slowestMs, performance.now() - startedMs);
      requireNoPollution();
      if (outcome instanceof Error) await requireUntouched(book, before, outcome, report);
      else await requireDocumented(book, outcome as ImportReport, report);
    }),
    { numRuns: files, seed },
  );
  await book.stores.close();
  return report;
}

/** Rows that hostile files may change, withdraw or collide with. */
async function fillBook({ stores, org, otherOrg }: TestBook): Promise<void> {
  const rows = [0, 1, 2, 3, 4, 5, 6];
  await importCatalogue(stores.catalogue, sourceFrom(ndjson(...rows.map((n) => retailer(n)))), {});
  const sales = sourceFrom(ndjson(...rows.slice(0, 5).map((n) => transaction(n))));
  await importTransactions(stores.transactions, org, sales, () => NOW_MS, {});
  const foreign = sourceFrom(ndjson(transaction(6)));
  await importTransactions(stores.transactions, otherOrg, foreign, () => NOW_MS, {});
}

async function requireUntouched(
  book: TestBook,
  before: Awaited<ReturnType<typeof contentOf>>,
  error: Error,
  report: FileAttackReport,
): Promise<void> {
  if (!(error instanceof BadInput || error instanceof Refused)) throw error;
  if (!Bun.deepEquals(await contentOf(book), before))
    throw new Error(`changed something, but said: ${error.message}`);
  if (error instanceof InvalidRows) {
    report.invalid++;
    const [, ...others] = error.message.split('\n').reverse();
    const placeless = others.filter((line) => !PLACE.test(line) && !/^… and [\d,]+ more$/.test(line));
    if (others.length === 0 || placeless.length > 0)
      throw new Error(`the error does not name the place: ${error.message}`);
  } else {
    report.refused++;
    if (!WHOLE_FILE.test(error.message))
      throw new Error(`the error does not give the reason: ${error.message}`);
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal would interpret them
  if (/[\x00-\x09\x0b-\x1f\x7f-\x9f]/.test(error.message))
    throw new Error(`has controls: ${JSON.stringify(error.message)}`);
}

async function requireDocumented(
  book: TestBook,
  outcome: ImportReport,
  report: FileAttackReport,
): Promise<void> {
  report.imported++;
  const { retailers, transactions } = await contentOf(book);
  const problems = [
    ...retailers.flatMap((document) => schemaProblems(SCHEMAS.retailer, JSON.parse(document))),
    ...transactions.documents.flatMap((document) =>
      schemaProblems(SCHEMAS.transaction, JSON.parse(document)),
    ),
  ];
  const { added, changed, unchanged, invalid, read } = outcome;
  if (added + changed + unchanged + invalid !== read) problems.push('the counts do not add up');
  if (problems.length > 0) throw new Error(`imported what is not as documented: ${problems.join('; ')}`);
}

function requireNoPollution(): void {
  const names = Object.getOwnPropertyNames(Object.prototype).sort().join();
  if (names !== PROTOTYPE_NAMES || 'polluted' in {})
    throw new Error('the prototype of all objects was changed');
}
