// GET /v1/transactions/, for servers only. How a page of it is read is in transactions-route.ts.

import type { Operation } from './operation.ts';
import { TRANSACTION_PARAMETERS, transactionsRoute } from './transactions-route.ts';

export const listTransactions = {
  id: 'listTransactions',
  path: '/v1/transactions/',
  tokenKind: 'private',
  parameters: TRANSACTION_PARAMETERS,
  summary: 'Transactions of your users',
  description:
    "Lists the transactions of the token's organisation, in the order of their ids. For servers only. To keep a copy that misses no change, walk all pages of updatedAtGreaterThan=W, the first time without it, store each row under its id, and keep the smallest Complete-Through header of the pages. When the whole walk is stored, and not before, that value is the next W. If a walk fails, begin it again with the same W. The pages of a walk are a snapshot: for an hour they show what the window held at the first page, whatever changes meanwhile. Complete-Through: T promises that every change stamped T or earlier was there to be read, and that every later change will carry an updatedAt greater than T.",
  item: {
    component: 'Transaction',
    loadSchema: async () => (await import('@offerbook/wire/transaction.ts')).TransactionSchema,
  },
  sample: {
    clientMethod: 'transactions',
    itemName: 'transaction',
    printedFields: ['id', 'status', 'cashback'],
    // The first run has nothing to go on from.
    query: {},
  },
  answer: transactionsRoute,
} as const satisfies Operation;
