// Fields that came after the first release, and what documents have in them that were stored before. Such a document
// gets the field when it is read: it is never rewritten, so that its stamp stays, and an upgrade has nothing to do.
// Apart from the schemas, so that a server starts without loading those; a test holds the two together.

import type { DealList } from './deals.ts';

/** Names, and the values in older documents, in the order in which the fields came. */
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
