import { expect, test } from 'bun:test';
import type { Timestamp } from '../src/timestamp.ts';
import {
  mayBecome,
  printTransaction,
  STATUSES,
  TRANSACTION_FIELDS,
  TransactionSchema,
} from '../src/transaction.ts';
import { transaction } from './fixture.ts';

test('a confirmed or declined sale can change status but never becomes pending again', () => {
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

test('fields are serialised in schema order and read back unchanged', () => {
  const printed = printTransaction(transaction(), '2026-11-14T12:00:00.5' as Timestamp);
  expect(Object.keys(JSON.parse(printed))).toEqual(TRANSACTION_FIELDS);
  expect(TransactionSchema.parse(JSON.parse(printed)) as unknown).toEqual({
    ...transaction(),
    updatedAt: '2026-11-14T12:00:00.500',
  });
});
