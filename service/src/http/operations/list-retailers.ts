// GET /v1/retailers/

import { catalogueRoute } from './catalogue-route.ts';
import type { Operation } from './operation.ts';
import { PAGE_PARAMETERS } from './query.ts';

export const listRetailers = {
  id: 'listRetailers',
  path: '/v1/retailers/',
  tokenKind: 'public',
  parameters: PAGE_PARAMETERS,
  summary: 'Retailers with active deals',
  description:
    'Lists the retailers with at least one active offer, coupon or promotion, each with its active deals, sorted by id.',
  item: {
    component: 'Retailer',
    loadSchema: async () => (await import('@offerbook/wire/catalogue.ts')).RetailerSchema,
    embedded: { cashbackOffers: 'RetailerOffer', coupons: 'RetailerCoupon', promotions: 'RetailerPromotion' },
  },
  sample: {
    clientMethod: 'retailers',
    itemName: 'retailer',
    printedFields: ['name', 'url'],
    query: { limit: 100 },
  },
  answer: (services, item) => catalogueRoute(services, 'retailers', PAGE_PARAMETERS, item),
} as const satisfies Operation;
