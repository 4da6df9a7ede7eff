// GET /v1/promotions/

import { catalogueRoute } from './catalogue-route.ts';
import type { Operation } from './operation.ts';
import { PAGE_PARAMETERS } from './query.ts';

export const listPromotions = {
  id: 'listPromotions',
  path: '/v1/promotions/',
  tokenKind: 'public',
  parameters: PAGE_PARAMETERS,
  summary: 'Promotions',
  description: 'Lists the active promotions, sorted by id.',
  item: {
    component: 'Promotion',
    loadSchema: async () => (await import('@offerbook/wire/catalogue.ts')).PromotionSchema,
  },
  sample: {
    clientMethod: 'promotions',
    itemName: 'promotion',
    printedFields: ['description', 'deepLink'],
    query: { limit: 100 },
  },
  answer: (services, item) => catalogueRoute(services, 'promotions', PAGE_PARAMETERS, item),
} as const satisfies Operation;
