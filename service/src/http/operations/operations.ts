// The API's operations. Routing, authentication, the OpenAPI document, the code samples and the tests use this table.

import { catalogueItemRoute, catalogueRoute, domainsRoute } from './catalogue-route.ts';
import type { Operation } from './operation.ts';
import { PAGE_PARAMETERS } from './parameters.ts';
import {
  TRANSACTION_ITEM_PARAMETERS,
  TRANSACTION_PARAMETERS,
  transactionRoute,
  transactionsRoute,
} from './transactions-route.ts';

const RETAILER_PARAMETERS = [...PAGE_PARAMETERS, 'hostname'] as const;
const DEAL_PARAMETERS = [...RETAILER_PARAMETERS, 'retailerId'] as const;
const OFFER_PARAMETERS = [
  ...PAGE_PARAMETERS,
  'name',
  'category',
  'country',
  'hostname',
  'retailerId',
] as const;

const catalogueSchemas = () => import('@offerbook/wire/catalogue.ts');

export const listRetailers: Operation = {
  id: 'listRetailers',
  path: '/v1/retailers/',
  returns: 'page',
  tokenKind: 'public',
  parameters: RETAILER_PARAMETERS,
  summary: 'Retailers with active deals',
  description:
    'Lists the retailers with at least one active offer, coupon or promotion, each with its active deals, sorted by id.',
  item: {
    component: 'Retailer',
    loadSchema: async () => (await catalogueSchemas()).RetailerSchema,
    embedded: { cashbackOffers: 'RetailerOffer', coupons: 'RetailerCoupon', promotions: 'RetailerPromotion' },
  },
  sample: {
    clientMethod: 'retailers',
    itemName: 'retailer',
    printedFields: ['name', 'url'],
    query: { limit: 100 },
  },
  answer: (services) => catalogueRoute(services, 'retailers', RETAILER_PARAMETERS),
};

const listCashbackOffers: Operation = {
  id: 'listCashbackOffers',
  path: '/v1/cashback-offers/',
  returns: 'page',
  tokenKind: 'public',
  parameters: OFFER_PARAMETERS,
  summary: 'Cashback offers',
  description:
    "Lists cashback offers, sorted by id. An offer must match all filters. `name` matches part of the retailer's name, and `category` matches the whole category; both ignore case and accents.",
  item: {
    component: 'CashbackOffer',
    loadSchema: async () => (await catalogueSchemas()).CashbackOfferSchema,
  },
  sample: {
    clientMethod: 'cashbackOffers',
    itemName: 'offer',
    printedFields: ['name', 'cashbackPercentage'],
    query: { name: 'a', country: 'DE' },
  },
  answer: (services) => catalogueRoute(services, 'cashbackOffers', OFFER_PARAMETERS),
};

const listCoupons: Operation = {
  id: 'listCoupons',
  path: '/v1/coupons/',
  returns: 'page',
  tokenKind: 'public',
  parameters: DEAL_PARAMETERS,
  summary: 'Coupons',
  description: 'Lists the active coupons, sorted by id.',
  item: {
    component: 'Coupon',
    loadSchema: async () => (await catalogueSchemas()).CouponSchema,
  },
  sample: {
    clientMethod: 'coupons',
    itemName: 'coupon',
    printedFields: ['code', 'endDate'],
    query: { limit: 100 },
  },
  answer: (services) => catalogueRoute(services, 'coupons', DEAL_PARAMETERS),
};

const listPromotions: Operation = {
  id: 'listPromotions',
  path: '/v1/promotions/',
  returns: 'page',
  tokenKind: 'public',
  parameters: DEAL_PARAMETERS,
  summary: 'Promotions',
  description: 'Lists the active promotions, sorted by id.',
  item: {
    component: 'Promotion',
    loadSchema: async () => (await catalogueSchemas()).PromotionSchema,
  },
  sample: {
    clientMethod: 'promotions',
    itemName: 'promotion',
    printedFields: ['description', 'deepLink'],
    query: { limit: 100 },
  },
  answer: (services) => catalogueRoute(services, 'promotions', DEAL_PARAMETERS),
};

const listDomains: Operation = {
  id: 'listDomains',
  path: '/v1/domains/',
  returns: 'page',
  tokenKind: 'public',
  parameters: [],
  summary: "Domains of the retailers' sites",
  description:
    'Lists every retailer that has a domain, sorted by id, with its domains and its best cashback rate. The list has one page. Browser extensions fetch it at most once an hour and match sites themselves, so they never send the sites that their users visit. A site belongs to the retailer with the longest domain that is its hostname or one of its parent domains. Domains are in ASCII (IDNA) and never public suffixes.',
  item: {
    component: 'RetailerDomains',
    loadSchema: async () => (await catalogueSchemas()).RetailerDomainsSchema,
  },
  sample: {
    clientMethod: 'domains',
    itemName: 'retailer',
    printedFields: ['name', 'cashbackPercentage'],
    query: {},
  },
  answer: domainsRoute,
};

export const listTransactions: Operation = {
  id: 'listTransactions',
  path: '/v1/transactions/',
  returns: 'page',
  tokenKind: 'private',
  parameters: TRANSACTION_PARAMETERS,
  summary: "Your users' transactions",
  description:
    "Lists the transactions of the token's organisation, sorted by id. For servers only.\n\nTo keep a complete copy, walk all pages with `updatedAtGreaterThan=W` (omit it the first time), upsert each row by `id`, and keep the smallest `Complete-Through` header of the walk. Once the whole walk is stored, use that value as the next `W`. If a walk fails, restart it with the same `W`.\n\nA walk is a snapshot: for one hour, its pages show the window as of the first page. `Complete-Through: T` guarantees that the walk includes every change stamped T or earlier, and that every later change will have an `updatedAt` greater than T.",
  item: {
    component: 'Transaction',
    loadSchema: async () => (await import('@offerbook/wire/transaction.ts')).TransactionSchema,
    expanded: {
      retailer: {
        component: 'TransactionRetailer',
        description:
          'The retailer, only with `expand=retailer`; `null` if it is unknown or no longer in the catalogue. Not part of the snapshot: its changes do not change `updatedAt`',
        loadSchema: async () => (await catalogueSchemas()).TransactionRetailerSchema,
      },
    },
  },
  sample: {
    clientMethod: 'transactions',
    itemName: 'transaction',
    printedFields: ['id', 'status', 'cashback'],
    // The first run has no checkpoint.
    query: {},
  },
  answer: transactionsRoute,
};

/** Returns the operation for one item of a list: the same object, under the list's path with an id. */
function itemOperation(
  list: Operation,
  own: {
    id: string;
    summary: string;
    description: string;
    parameters?: Operation['parameters'];
    answer: Operation['answer'];
  },
): Operation {
  return { ...list, parameters: [], ...own, path: `${list.path}{id}/`, returns: 'item' };
}

export const getRetailer = itemOperation(listRetailers, {
  id: 'getRetailer',
  summary: 'One retailer',
  description:
    'Returns a retailer with its active deals, exactly as in the list, or 404 if it has no active deals.',
  answer: (services) => catalogueItemRoute(services, 'retailers'),
});

const getCashbackOffer = itemOperation(listCashbackOffers, {
  id: 'getCashbackOffer',
  summary: 'One cashback offer',
  description: 'Returns a cashback offer, exactly as in the list.',
  answer: (services) => catalogueItemRoute(services, 'cashbackOffers'),
});

const getCoupon = itemOperation(listCoupons, {
  id: 'getCoupon',
  summary: 'One coupon',
  description: 'Returns a coupon, exactly as in the list, or 404 if it is not active.',
  answer: (services) => catalogueItemRoute(services, 'coupons'),
});

const getPromotion = itemOperation(listPromotions, {
  id: 'getPromotion',
  summary: 'One promotion',
  description: 'Returns a promotion, exactly as in the list, or 404 if it is not active.',
  answer: (services) => catalogueItemRoute(services, 'promotions'),
});

export const getTransaction = itemOperation(listTransactions, {
  id: 'getTransaction',
  summary: 'One transaction',
  description:
    "Returns the current version of a transaction of the token's organisation, exactly as in the list. For servers only. To follow changes, poll the list: this operation has no Complete-Through header.",
  parameters: TRANSACTION_ITEM_PARAMETERS,
  answer: transactionRoute,
});

export const OPERATIONS = [
  listRetailers,
  getRetailer,
  listCashbackOffers,
  getCashbackOffer,
  listCoupons,
  getCoupon,
  listPromotions,
  getPromotion,
  listDomains,
  listTransactions,
  getTransaction,
];

/** The operations that return pages. */
export const LISTS = OPERATIONS.filter(({ returns }) => returns === 'page');
