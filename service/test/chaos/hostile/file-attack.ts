// Imports intact and damaged files into one database, one after the other. Each import must end in time, apply the whole file or
// nothing, report where the file is invalid, and store only rows that match the documentation. Importing it again changes nothing.

import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import fc from 'fast-check';
import { openApiDocument } from '../../../src/http/openapi/openapi-document.ts';
import { importCatalogue } from '../../../src/importer/import-catalogue.ts';
import { type ImportReport, InvalidRows } from '../../../src/importer/import-report.ts';
import { importTransactions } from '../../../src/importer/import-transactions.ts';
import {
  contentOf,
  countsOf,
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
import { type Extent, newOutcomes, outcomeOf, rejectionOf, reportOutcomes } from './file-outcomes.ts';

const MESSAGES = {
  place: /^line \d+(?: \(item \d+\))?: ./,
  whole:
    /cannot be decompressed: its (?:gzip|zstd) data is damaged or truncated$|^the file has no rows|^this file (?:would withdraw|is one page)/,
};

const { schemas } = openApiDocument().components;
const SCHEMAS = { retailer: schemas?.Retailer as object, transaction: schemas?.Transaction as object };

export async function attackWithFiles(run: Run, extent: Extent): Promise<void> {
  for (const kind of ['catalogue', 'transactions'] as const) await attackWith(kind, run, extent);
}

const anyOptions = fc.record({
  skipInvalid: fc.boolean(),
  ignoreUnknown: fc.boolean(),
  dryRun: fc.boolean(),
  merge: fc.boolean(),
  allowWithdrawals: fc.boolean(),
  allowEmpty: fc.boolean(),
  preserveUpdatedAt: fc.boolean(),
});

async function attackWith(kind: FileKind, run: Run, extent: Extent): Promise<void> {
  let nowMs = NOW_MS;
  const book = await newBook(() => nowMs);
  const { stores, org } = book;
  await fillBook(book);
  const outcomes = newOutcomes();
  await fc.assert(
    fc.asyncProperty(anyFile(kind), anyOptions, async ({ bytes }, options) => {
      nowMs += 1_000;
      const before = await contentOf(book);
      const importFile = () => {
        const source = sourceFrom(bytes, 'the file');
        return kind === 'catalogue'
          ? importCatalogue(stores.catalogue, source, options)
          : importTransactions(stores, org, source, () => nowMs, options);
      };
      const outcome = await outcomeOf(importFile());
      if (outcome instanceof Error) {
        outcomes[rejectionOf(outcome, InvalidRows, MESSAGES)] += 1;
        if (!Bun.deepEquals(await contentOf(book), before))
          throw new Error(`changed something, but reported: ${outcome.message}`);
      } else {
        outcomes.accepted += 1;
        await requireApplied(book, before, outcome, options.dryRun);
        await requireSettled(book, outcome, options.dryRun, importFile);
      }
    }),
    extent,
  );
  await stores.close();
  reportOutcomes(run, kind, outcomes);
}

/** Rows that hostile files may change, withdraw or collide with. */
async function fillBook({ stores, org, otherOrg }: TestBook): Promise<void> {
  const rows = [0, 1, 2, 3, 4, 5, 6];
  await importCatalogue(stores.catalogue, sourceFrom(ndjson(...rows.map((n) => retailer(n)))), {});
  const sales = sourceFrom(ndjson(...rows.slice(0, 5).map((n) => transaction(n))));
  await importTransactions(stores, org, sales, () => NOW_MS, {});
  const foreign = sourceFrom(ndjson(transaction(6)));
  await importTransactions(stores, otherOrg, foreign, () => NOW_MS, {});
}

/** Throws unless the import changed exactly what its report states, and all stored rows are as documented. */
async function requireApplied(
  book: TestBook,
  before: Awaited<ReturnType<typeof contentOf>>,
  { added, changed, unchanged, withdrawn, invalid, stale, read }: ImportReport,
  isDryRun: boolean,
): Promise<void> {
  const after = await contentOf(book);
  const problems = [
    ...after.retailers.flatMap((document) => schemaProblems(SCHEMAS.retailer, JSON.parse(document))),
    ...after.transactions.documents.flatMap((document) =>
      schemaProblems(SCHEMAS.transaction, JSON.parse(document)),
    ),
  ];
  if (added + changed + unchanged + stale + invalid !== read) problems.push('the counts do not add up');
  const isUnchanged = isDryRun || added + changed + withdrawn === 0;
  if (Bun.deepEquals(after, before) !== isUnchanged) problems.push('the counts contradict the contents');
  if (problems.length > 0) throw new Error(`imported what is not as documented: ${problems.join('; ')}`);
}

/** Throws unless the same import changes nothing and counts every valid row as unchanged. */
async function requireSettled(
  book: TestBook,
  first: ImportReport,
  isDryRun: boolean,
  importFile: () => Promise<ImportReport>,
): Promise<void> {
  const before = await contentOf(book);
  const settled = { ...first, added: 0, changed: 0, withdrawn: 0, unchanged: first.read - first.invalid };
  const again = countsOf(await importFile());
  if (!Bun.deepEquals(again, countsOf(isDryRun ? first : settled)))
    throw new Error(`the second import has other counts: ${JSON.stringify(again)}`);
  if (!Bun.deepEquals(await contentOf(book), before))
    throw new Error('the second import has changed something');
}
