import { expect, test } from 'bun:test';
import { timestamp, transaction } from '../../service/test/support/fixtures.ts';
import {
  mayBecome,
  STATUSES,
  TRANSACTION_FIELDS,
  TRANSACTION_FORMAT,
  TransactionSchema,
} from '../src/transaction.ts';

test('a decided sale may be decided again but never becomes pending', () => {
  const allowed = STATUSES.flatMap((from) =>
    STATUSES.filter((to) => from !== to && mayBecome(from, to)).map((to) => `${from} → ${to}`),
  );
  expect(allowed).toEqual([
    'PENDING → CONFIRMED',
    'PENDING → DECLINED',
    'CONFIRMED → DECLINED',
    'DECLINED → CONFIRMED',
  ]);
});

test('every field is printed in the order of the specification and read back unchanged', () => {
  const printed = TRANSACTION_FORMAT.print(transaction(1), timestamp('2026-11-14T12:00:00.5'));
  expect(Object.keys(JSON.parse(printed))).toEqual(TRANSACTION_FIELDS);
  expect(TransactionSchema.parse(JSON.parse(printed)) as unknown).toEqual({
    ...transaction(1),
    updatedAt: '2026-11-14T12:00:00.500',
  });
});
