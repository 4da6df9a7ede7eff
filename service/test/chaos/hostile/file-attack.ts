// Imports hostile files into one database, one after the other. Each import must end in time, apply the whole file or nothing,
// report where the file is invalid, and store only rows that match the documentation.

import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import fc from 'fast-check';
import { openApiDocument } from '../../../src/http/openapi/openapi-document.ts';
import { importCatalogue } from '../../../src/importer/import-catalogue.ts';
import { type ImportReport, InvalidRows } from '../../../src/importer/import-report.ts';
import { importTransactions } from '../../../src/importer/import-transactions.ts';
import {
  contentOf,
  NOW_MS,
  ndjson,
  newBook,
  retailer,
  type TestBook,
  transaction,
} from '../../importer/fixture.ts';
import { schemaProblems } from '../../support/documented-answers.ts';
import type { Run } from '../report/run.ts';
import { anyFile, type FileKind } from './any-file.ts';
import { extentOf } from './extent.ts';
import { FileOutcomes, outcomeOf } from './file-outcomes.ts';

const MESSAGES = {
  place: /^line \d+(?: \(item \d+\))?: ./,
  whole:
    /cannot be decompressed: its (?:gzip|zstd) data is damaged or truncated$|^the file has no rows|^this file (?:would withdraw|is one page)/,
};

const { schemas } = (await openApiDocument()).components;
const SCHEMAS = { retailer: schemas?.Retailer as object, transaction: schemas?.Transaction as object };

export async function attackWithFiles(run: Run, limitMs: number): Promise<void> {
  for (const kind of ['catalogue', 'transactions'] as const) await attackWith(kind, run, limitMs / 2);
}

async function attackWith(kind: FileKind, run: Run, limitMs: number): Promise<void> {
  let nowMs = NOW_MS;
  const book = await newBook(() => nowMs);
  await fillBook(book);
  const outcomes = new FileOutcomes();
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
      const source = sourceFrom(bytes, 'the file');
      const { stores, org } = book;
      const outcome = await outcomeOf(
        kind === 'catalogue'
          ? importCatalogue(stores.catalogue, source, options)
          : importTransactions(stores.transactions, org, source, () => nowMs, options),
      );
      if (outcome instanceof Error) {
        outcomes.rejected(outcome, InvalidRows, MESSAGES);
        if (!Bun.deepEquals(await contentOf(book), before))
          throw new Error(`changed something, but reported: ${outcome.message}`);
      } else {
        outcomes.accepted += 1;
        await requireDocumented(book, outcome);
      }
    }),
    extentOf(run, 'files', limitMs),
  );
  await book.stores.close();
  outcomes.report(run, kind);
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

async function requireDocumented(book: TestBook, outcome: ImportReport): Promise<void> {
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
