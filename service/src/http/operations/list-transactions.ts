// GET /v1/transactions/, for servers only. transactions-route.ts reads the pages.

import type { Operation } from './operation.ts';
import { TRANSACTION_PARAMETERS, transactionsRoute } from './transactions-route.ts';

export const listTransactions = {
  id: 'listTransactions',
  path: '/v1/transactions/',
  tokenKind: 'private',
  parameters: TRANSACTION_PARAMETERS,
  summary: 'Transactions of your users',
  description:
    "Lists the transactions of the token's organisation, sorted by id. For servers only. To keep a complete copy, walk all pages with updatedAtGreaterThan=W (omit it the first time), store each row under its id, and remember the smallest Complete-Through header of the pages. Once the whole walk is stored, use that value as the next W. If a walk fails, restart it with the same W. The pages of a walk are a snapshot: for one hour they show the window as it was at the first page. Complete-Through: T guarantees that every change stamped T or earlier was visible, and that every later change will have an updatedAt greater than T.",
  item: {
    component: 'Transaction',
    loadSchema: async () => (await import('@offerbook/wire/transaction.ts')).TransactionSchema,
  },
  sample: {
    clientMethod: 'transactions',
    itemName: 'transaction',
    printedFields: ['id', 'status', 'cashback'],
    // The first run has no checkpoint.
    query: {},
  },
  answer: transactionsRoute,
} as const satisfies Operation;
