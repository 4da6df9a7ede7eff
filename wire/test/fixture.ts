// A transaction with default values, which a test overrides where they matter.

import type { Transaction } from '../src/transaction.ts';

export function transaction(changes: Record<string, unknown> = {}): Transaction {
  return {
    id: '0192d1a0-0005-7000-8000-000000000001',
    country: 'DE',
    clickedAt: '2026-11-01T11:20:00',
    soldAt: '2026-11-01T12:00:00',
    updatedAt: '2026-11-02T00:00:00',
    currencyCode: 'EUR',
    orderValue: 79.9,
    cashback: 3.99,
    activatedAt: null,
    passbackUid: 'user-1',
    passbackData: null,
    status: 'PENDING',
    cashbackOfferId: '0192d1a0-0002-7000-8000-000000000001',
    couponId: null,
    promotionId: null,
    ...changes,
  } as Transaction;
}
