// The operations of the service. Routing, authentication, the OpenAPI document and the tests read this one table.

import { listCashbackOffers } from './list-cashback-offers.ts';
import { listCoupons } from './list-coupons.ts';
import { listPromotions } from './list-promotions.ts';
import { listRetailers } from './list-retailers.ts';
import { listTransactions } from './list-transactions.ts';
import type { Operation } from './operation.ts';

export const OPERATIONS: readonly Operation[] = [
  listRetailers,
  listCashbackOffers,
  listCoupons,
  listPromotions,
  listTransactions,
];
