// The operations of the service. Routing, authentication, the OpenAPI document and the tests read this one table.

import { listCashbackOffers } from './list-cashback-offers.ts';
import { listCoupons } from './list-coupons.ts';
import { listPromotions } from './list-promotions.ts';
import { listRetailers } from './list-retailers.ts';
import { listTransactions } from './list-transactions.ts';
import type { Operation, OperationId } from './operation.ts';

/** An operation that is missing here, or stands under the id of another, is a type error. */
const TABLE = {
  listRetailers,
  listCashbackOffers,
  listCoupons,
  listPromotions,
  listTransactions,
} satisfies { readonly [Id in OperationId]: Operation & { readonly id: Id } };

export const OPERATIONS: readonly Operation[] = Object.values(TABLE);
