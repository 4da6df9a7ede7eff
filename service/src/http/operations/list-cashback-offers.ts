// GET /v1/cashback-offers/, the only catalogue list with filters.

import { catalogueRoute } from './catalogue-route.ts';
import type { Operation } from './operation.ts';
import { PAGE_PARAMETERS } from './query.ts';

const PARAMETERS = [...PAGE_PARAMETERS, 'name', 'category', 'country'] as const;

export const listCashbackOffers = {
  id: 'listCashbackOffers',
  path: '/v1/cashback-offers/',
  tokenKind: 'public',
  parameters: PARAMETERS,
  summary: 'Cashback offers',
  description:
    "Lists cashback offers, sorted by id. An offer must match all filters: name matches part of the retailer's name, category matches the whole category; both ignore case and accents.",
  item: {
    component: 'CashbackOffer',
    loadSchema: async () => (await import('@offerbook/wire/catalogue.ts')).CashbackOfferSchema,
  },
  sample: {
    clientMethod: 'cashbackOffers',
    itemName: 'offer',
    printedFields: ['name', 'cashbackPercentage'],
    query: { name: 'a', country: 'DE' },
  },
  answer: (services, item) => catalogueRoute(services, 'cashbackOffers', PARAMETERS, item),
} as const satisfies Operation;
