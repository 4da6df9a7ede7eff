import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RetailerSchema } from '@offerbook/wire/catalogue.ts';
import { TransactionSchema } from '@offerbook/wire/transaction.ts';
import { withAddedFields } from '../fixtures/release-contents.ts';

const RELEASE = join(import.meta.dir, '..', 'fixtures', 'schema-4.sqlite.ndjson');

// When this fails, a field was added to a schema, and what older documents have in it was not added to ADDED_FIELDS.
test('documents of the first release, completed with ADDED_FIELDS, have all fields of the schemas', () => {
  const { retailers, organisations } = withAddedFields(JSON.parse(readFileSync(RELEASE, 'utf8')));
  const transactions = organisations.flatMap((organisation) => organisation.transactions);
  expect([retailers.length, transactions.length]).toEqual([25, 200]);
  // The schemas give a field its default where it was left out, so that a difference is a field that is missing.
  expect(transactions).toEqual(transactions.map((value) => TransactionSchema.parse(value)));
  expect(retailers).toEqual(retailers.map((value) => RetailerSchema.parse(value)));
});
