// GET /v1/coupons/

import { catalogueRoute } from './catalogue-route.ts';
import type { Operation } from './operation.ts';
import { PAGE_PARAMETERS } from './query.ts';

export const listCoupons = {
  id: 'listCoupons',
  path: '/v1/coupons/',
  tokenKind: 'public',
  parameters: PAGE_PARAMETERS,
  summary: 'Coupons',
  description: 'Lists the active coupons, sorted by id.',
  item: {
    component: 'Coupon',
    loadSchema: async () => (await import('@offerbook/wire/catalogue.ts')).CouponSchema,
  },
  sample: {
    clientMethod: 'coupons',
    itemName: 'coupon',
    printedFields: ['code', 'endDate'],
    query: { limit: 100 },
  },
  answer: (services, item) => catalogueRoute(services, 'coupons', PAGE_PARAMETERS, item),
} as const satisfies Operation;
