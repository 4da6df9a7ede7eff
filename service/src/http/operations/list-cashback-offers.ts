// GET /v1/cashback-offers/, the one list of the catalogue that can be searched.

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
    "Lists cashback offers in the order of their ids. Filters narrow the list down to what matches all of them: name searches in the retailer's name, category is compared as a whole, both without regard to case and accents.",
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
