// What is served of a stored retailer: its document as it is, taken apart into lists.

import { expect, test } from 'bun:test';
import {
  CashbackOfferSchema,
  CouponSchema,
  PromotionSchema,
  RetailerSchema,
} from '@offerbook/wire/catalogue.ts';
import { DEAL_LISTS, type DealList, forEachDealList } from '@offerbook/wire/deals.ts';
import { buildSnapshotData } from '../../src/catalogue/build/build-snapshot.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { coupon, id, offer, promotion, retailer } from '../support/fixtures.ts';
import { START_MS } from './arbitrary-catalogue.ts';
import { readPage } from './read-page.ts';

const RETAILER = retailer(1, {
  cashbackOffers: [offer(11)],
  coupons: [coupon(21)],
  promotions: [promotion(31)],
});
const LIST_FORMS = {
  cashbackOffers: CashbackOfferSchema,
  coupons: CouponSchema,
  promotions: PromotionSchema,
};

/** What each list shows of one stored retailer. */
async function served(stored: object) {
  const data = await buildSnapshotData(async (onBatch) => {
    await onBatch([{ id: RETAILER.id, document: JSON.stringify(stored) }]);
    return 1;
  });
  const catalogue = new Catalogue(() => START_MS);
  catalogue.take(data);
  const only = (list: 'retailers' | DealList) => {
    const { items } = readPage(catalogue.list(list), { cursor: undefined, limit: 10 });
    expect(items).toHaveLength(1);
    return items[0] ?? '';
  };
  return { retailer: only('retailers'), listForms: forEachDealList(only) };
}

test('every field of a stored document is served in embedded and list form, including unknown fields', async () => {
  const scored = forEachDealList((list) => RETAILER[list].map((deal) => ({ ...deal, score: null })));
  const stored = { ...RETAILER, note: 'fine', ...scored };
  const { retailer, listForms } = await served(stored);
  expect(JSON.parse(retailer)).toEqual(stored);
  for (const list of DEAL_LISTS) {
    expect(JSON.parse(listForms[list])).toEqual({
      ...scored[list][0],
      ...{ retailerId: id(1), logo: RETAILER.logo, url: RETAILER.url, name: RETAILER.name },
    });
  }
});

test('a small number is served with all its digits and without an exponent', async () => {
  const cashbackOffers = [offer(11, { cashbackPercentage: 1e-7, maximumFixedCommissionFee: 1.5e-9 })];
  const { retailer, listForms } = await served({ ...RETAILER, cashbackOffers });
  const printed = '"cashbackPercentage":0.0000001,"maximumFixedCommissionFee":0.0000000015,';
  expect(retailer).toContain(printed);
  expect(listForms.cashbackOffers).toContain(printed);
});

test('served items have the fields of their schema in schema order', async () => {
  const { retailer, listForms } = await served(RETAILER);
  const { shape } = RetailerSchema;
  const shown = JSON.parse(retailer) as Record<DealList, object[]>;
  expect(Object.keys(shown)).toEqual(Object.keys(shape));
  for (const list of DEAL_LISTS) {
    expect(Object.keys(shown[list][0] ?? {})).toEqual(Object.keys(shape[list].element.shape));
    expect(Object.keys(JSON.parse(listForms[list]))).toEqual(Object.keys(LIST_FORMS[list].shape));
  }
});
