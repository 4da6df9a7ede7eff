// The API's operations. Routing, authentication, the OpenAPI document, the code samples and the tests use this table.

import type { CatalogueListName } from '../../catalogue/list-view.ts';
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

/** The parts of a catalogue list's two operations that differ from those of the other lists. */
interface CatalogueList extends Pick<Operation, 'path' | 'component' | 'summary' | 'description' | 'sample'> {
  readonly parameters: Parameters<typeof catalogueRoute>[2];
  readonly one: Pick<Operation, 'summary' | 'description'>;
}

/** Returns the operation for a list of the catalogue, and the operation for one of its items. */
function catalogueOperations(
  name: CatalogueListName,
  { one, ...list }: CatalogueList,
): readonly [list: Operation, one: Operation] {
  const listOperation: Operation = {
    ...list,
    id: `list${name.replace(/^./, (letter) => letter.toUpperCase())}`,
    returns: 'page',
    tokenKind: 'public',
    answer: (services) => catalogueRoute(services, name, list.parameters),
  };
  return [
    listOperation,
    itemOperation(listOperation, { ...one, answer: (services) => catalogueItemRoute(services, name) }),
  ];
}

/** Returns the operation for one item of a list: the same object, under the list's path with an id. */
function itemOperation(
  list: Operation,
  own: Pick<Operation, 'summary' | 'description' | 'answer'> & Partial<Pick<Operation, 'parameters'>>,
): Operation {
  return {
    ...list,
    parameters: [],
    ...own,
    id: `get${list.component}`,
    path: `${list.path}{id}/`,
    returns: 'item',
  };
}

export const [listRetailers, getRetailer] = catalogueOperations('retailers', {
  path: '/v1/retailers/',
  component: 'Retailer',
  parameters: RETAILER_PARAMETERS,
  summary: 'Retailers with active deals',
  description:
    'Lists the retailers with at least one active offer, coupon or promotion, each with its active deals, sorted by id.',
  sample: {
    clientMethod: 'retailers',
    itemName: 'retailer',
    printedFields: ['name', 'url'],
    query: { limit: 100 },
  },
  one: {
    summary: 'One retailer',
    description:
      'Returns a retailer with its active deals, exactly as in the list, or 404 if it has no active deals.',
  },
});

const CASHBACK_OFFERS = catalogueOperations('cashbackOffers', {
  path: '/v1/cashback-offers/',
  component: 'CashbackOffer',
  parameters: OFFER_PARAMETERS,
  summary: 'Cashback offers',
  description:
    "Lists cashback offers, sorted by id. An offer must match all filters. `name` matches part of the retailer's name, and `category` matches the whole category; both ignore case and accents.",
  sample: {
    clientMethod: 'cashbackOffers',
    itemName: 'offer',
    printedFields: ['name', 'cashbackPercentage'],
    query: { name: 'a', country: 'DE' },
  },
  one: {
    summary: 'One cashback offer',
    description: 'Returns a cashback offer, exactly as in the list.',
  },
});

const COUPONS = catalogueOperations('coupons', {
  path: '/v1/coupons/',
  component: 'Coupon',
  parameters: DEAL_PARAMETERS,
  summary: 'Coupons',
  description: 'Lists the active coupons, sorted by id.',
  sample: {
    clientMethod: 'coupons',
    itemName: 'coupon',
    printedFields: ['code', 'endDate'],
    query: { limit: 100 },
  },
  one: {
    summary: 'One coupon',
    description: 'Returns a coupon, exactly as in the list, or 404 if it is not active.',
  },
});

const PROMOTIONS = catalogueOperations('promotions', {
  path: '/v1/promotions/',
  component: 'Promotion',
  parameters: DEAL_PARAMETERS,
  summary: 'Promotions',
  description: 'Lists the active promotions, sorted by id.',
  sample: {
    clientMethod: 'promotions',
    itemName: 'promotion',
    printedFields: ['description', 'deepLink'],
    query: { limit: 100 },
  },
  one: {
    summary: 'One promotion',
    description: 'Returns a promotion, exactly as in the list, or 404 if it is not active.',
  },
});

const listDomains: Operation = {
  id: 'listDomains',
  path: '/v1/domains/',
  returns: 'page',
  tokenKind: 'public',
  parameters: [],
  summary: "Domains of the retailers' sites",
  description:
    'Lists every retailer that has a domain, sorted by id, with its domains and its best cashback rate. The list has one page. Browser extensions fetch it at most once an hour and match sites themselves, so they never send the sites that their users visit. A site belongs to the retailer with the longest domain that is its hostname or one of its parent domains. Domains are in ASCII (IDNA) and never public suffixes.',
  component: 'RetailerDomains',
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
  component: 'Transaction',
  sample: {
    clientMethod: 'transactions',
    itemName: 'transaction',
    printedFields: ['id', 'status', 'cashback'],
    // The first run has no checkpoint.
    query: {},
  },
  answer: transactionsRoute,
};

export const getTransaction = itemOperation(listTransactions, {
  summary: 'One transaction',
  description:
    "Returns the current version of a transaction of the token's organisation, exactly as in the list. For servers only. To follow changes, poll the list: this operation has no Complete-Through header.",
  parameters: TRANSACTION_ITEM_PARAMETERS,
  answer: transactionRoute,
});

export const OPERATIONS = [
  listRetailers,
  getRetailer,
  ...CASHBACK_OFFERS,
  ...COUPONS,
  ...PROMOTIONS,
  listDomains,
  listTransactions,
  getTransaction,
];

/** The operations that return pages. */
export const LISTS = OPERATIONS.filter(({ returns }) => returns === 'page');
