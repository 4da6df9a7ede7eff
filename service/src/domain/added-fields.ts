// Fields added after the first release, with their values in documents stored before. Such documents get the field when they
// are read; they are never rewritten, so their stamps stay and upgrades are instant. Separate from the schemas, so that a
// server starts without loading those; a test keeps the two consistent.

import type { DealList } from '@offerbook/wire/deals.ts';

/** Field names and their values in older documents, in the order in which the fields were added. */
export type AddedFields = Readonly<Record<string, unknown>>;

export interface AllAddedFields {
  readonly transaction: AddedFields;
  readonly retailer: AddedFields;
  readonly deals: Readonly<Record<DealList, AddedFields>>;
}

export const ADDED_FIELDS: AllAddedFields = {
  transaction: {},
  retailer: {},
  deals: { cashbackOffers: {}, coupons: {}, promotions: {} },
};
