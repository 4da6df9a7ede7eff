import { expect, test } from 'bun:test';
import { printTransaction, type Transaction } from '@offerbook/wire/transaction.ts';
import fc from 'fast-check';
import { printedPassbackUid, withoutUser } from '../../src/domain/stored-document.ts';
import { timestamp, transaction } from '../support/fixtures.ts';

const STAMP = timestamp('2026-11-14T12:00:00');
/** Random strings, and some that look like the field. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string().map((inner) => `"passbackUid":"${inner}"`),
  fc.string().map((inner) => `\\","passbackUid":${JSON.stringify(inner)}`),
);

test("a serialised passbackUid occurs only in its user's documents, regardless of a document's other strings", () => {
  fc.assert(
    fc.property(fc.option(text), fc.option(text), text, (passbackUid, passbackData, wanted) => {
      const document = printTransaction(transaction(1, { passbackUid, passbackData }), STAMP);
      expect(document.includes(printedPassbackUid(wanted))).toBe(passbackUid === wanted);
      if (passbackUid !== null) expect(document).toContain(printedPassbackUid(passbackUid));
    }),
    { numRuns: 500 },
  );
});

test('withoutUser changes only the user fields and keeps unknown fields', () => {
  const stored = JSON.parse(printTransaction(transaction(1, { orderValue: 0.1 }), STAMP)) as Transaction;
  const newer = { ...stored, passbackUid: 'anna', passbackData: 'x', channel: 'app' };
  const expected = { ...newer, passbackUid: null, passbackData: null };
  expect(withoutUser(JSON.stringify(newer))).toBe(JSON.stringify(expected));
  const later = timestamp('2026-11-15T00:00:00');
  expect(withoutUser(JSON.stringify(newer), later)).toBe(JSON.stringify({ ...expected, updatedAt: later }));
});
