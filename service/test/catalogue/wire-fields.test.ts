// A field is one line in a schema: here it is added in a copy of the schemas.

import { describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { buildSnapshotData } from '../../src/catalogue/build/build-snapshot.ts';
import { WIRE_SCHEMAS, type WireSchemas } from '../../src/catalogue/build/wire-fields.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import {
  CashbackOfferSchema,
  CouponSchema,
  PromotionSchema,
  RetailerSchema,
} from '../../src/domain/catalogue.ts';
import { DEAL_LISTS, type DealList, forEachDealList } from '../../src/domain/deals.ts';
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

async function served(stored: object, schemas?: WireSchemas) {
  const { retailer, listForms } = await servedTexts(stored, schemas);
  const parse = (text: string) => JSON.parse(text) as Record<string, unknown>;
  return { retailer: parse(retailer), listForms: forEachDealList((list) => parse(listForms[list])) };
}

/** What each list shows of one stored retailer. */
async function servedTexts(stored: object, schemas?: WireSchemas) {
  const data = await buildSnapshotData(
    {
      async read(onBatch) {
        await onBatch([{ id: RETAILER.id, document: JSON.stringify(stored) }]);
        return 1;
      },
    },
    schemas,
  );
  const catalogue = new Catalogue(() => START_MS);
  catalogue.take(data);
  const only = (list: 'retailers' | DealList) => {
    const { items } = readPage(catalogue.list(list), { cursor: undefined, limit: 10 });
    expect(items).toHaveLength(1);
    return items[0] ?? '';
  };
  return { retailer: only('retailers'), listForms: forEachDealList(only) };
}

/** The schemas with a field more in every deal, in the retailer, and in what list forms say about the retailer. */
function extendedSchemas(): WireSchemas {
  const score = z.number().nullable().default(5);
  const note = z.string().default('none');
  const { cashbackOffers, coupons, promotions } = RetailerSchema.shape;
  return {
    retailer: RetailerSchema.extend({
      note,
      cashbackOffers: z.array(cashbackOffers.element.extend({ score })),
      coupons: z.array(coupons.element.safeExtend({ score })),
      promotions: z.array(promotions.element.safeExtend({ score })),
    }) as unknown as WireSchemas['retailer'],
    listForms: forEachDealList((list) => LIST_FORMS[list].extend({ score, note })),
  };
}

function withScores(score: number | null): object {
  const scored = forEachDealList((list) => RETAILER[list].map((deal) => ({ ...deal, score })));
  return { ...RETAILER, note: 'fine', ...scored };
}

describe('a field that is added to a schema', () => {
  test('is served with its stored value, embedded and in list form', async () => {
    const { retailer, listForms } = await served(withScores(3), extendedSchemas());
    expect(retailer).toEqual({ ...withScores(3) });
    for (const list of DEAL_LISTS) {
      expect(listForms[list]).toEqual({
        ...RETAILER[list][0],
        ...{ score: 3, note: 'fine' },
        ...{ retailerId: id(1), logo: RETAILER.logo, url: RETAILER.url, name: RETAILER.name },
      });
    }
  });

  test('is served with its default from documents that were stored before', async () => {
    const { retailer, listForms } = await served(RETAILER, extendedSchemas());
    expect(retailer).toEqual({ ...withScores(5), note: 'none' });
    for (const list of DEAL_LISTS) expect(listForms[list]).toMatchObject({ score: 5, note: 'none' });
  });

  test('stays null where null was stored', async () => {
    const { retailer, listForms } = await served(withScores(null), extendedSchemas());
    expect(retailer).toEqual({ ...withScores(null) });
    for (const list of DEAL_LISTS) expect(listForms[list]).toMatchObject({ score: null });
  });
});

test('a small number is served with all its digits, and no exponent', async () => {
  const cashbackOffers = [offer(11, { cashbackPercentage: 1e-7, maximumFixedCommissionFee: 1.5e-9 })];
  const { retailer, listForms } = await servedTexts({ ...RETAILER, cashbackOffers });
  const printed = '"cashbackPercentage":0.0000001,"maximumFixedCommissionFee":0.0000000015,';
  expect(retailer).toContain(printed);
  expect(listForms.cashbackOffers).toContain(printed);
});

test('a field that no schema has any more is not served', async () => {
  expect(await served(withScores(3))).toEqual(await served(RETAILER));
});

test('what is served has the fields of its schema, in their order', async () => {
  const { retailer, listForms } = await served(RETAILER);
  const { shape } = WIRE_SCHEMAS.retailer;
  expect(Object.keys(retailer)).toEqual(Object.keys(shape));
  for (const list of DEAL_LISTS) {
    const embedded = retailer[list] as object[];
    expect(Object.keys(embedded[0] ?? {})).toEqual(Object.keys(shape[list].element.shape));
    expect(Object.keys(listForms[list])).toEqual(Object.keys(LIST_FORMS[list].shape));
  }
});
