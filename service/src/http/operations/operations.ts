// The five operations of the specification, as data: where they are, who may call them, what they take.
// Routing, authentication, the OpenAPI document and the tests read this one table.

import type { CatalogueListName } from '../../catalogue/catalogue.ts';
import type { TokenKind } from '../../domain/access-token.ts';
import type { ParameterName } from './query.ts';

export interface Operation {
  readonly id: string;
  readonly path: `/v1/${string}/`;
  readonly tokenKind: TokenKind;
  readonly parameters: readonly ParameterName[];
  /** The list of the catalogue that it serves; undefined for transactions, which come from the database. */
  readonly list: CatalogueListName | undefined;
}

export const CATALOGUE_PARAMETERS = ['cursor', 'limit', 'name', 'category', 'country'] as const;
export const TRANSACTION_PARAMETERS = [
  'cursor',
  'limit',
  'updatedAtGreaterThan',
  'updatedAtLessThan',
] as const;

export const OPERATIONS: readonly Operation[] = [
  {
    id: 'listRetailers',
    path: '/v1/retailers/',
    tokenKind: 'public',
    parameters: ['cursor', 'limit'],
    list: 'retailers',
  },
  {
    id: 'listCashbackOffers',
    path: '/v1/cashback-offers/',
    tokenKind: 'public',
    parameters: CATALOGUE_PARAMETERS,
    list: 'cashbackOffers',
  },
  {
    id: 'listCoupons',
    path: '/v1/coupons/',
    tokenKind: 'public',
    parameters: ['cursor', 'limit'],
    list: 'coupons',
  },
  {
    id: 'listPromotions',
    path: '/v1/promotions/',
    tokenKind: 'public',
    parameters: ['cursor', 'limit'],
    list: 'promotions',
  },
  {
    id: 'listTransactions',
    path: '/v1/transactions/',
    tokenKind: 'private',
    parameters: TRANSACTION_PARAMETERS,
    list: undefined,
  },
];
