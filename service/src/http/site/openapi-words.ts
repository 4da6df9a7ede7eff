// The words of the OpenAPI document: what each operation, parameter and header is called and what it means.

import type { z } from 'zod';
import type { ErrorCode } from '../../domain/api-errors.ts';
import {
  CashbackOfferSchema,
  CouponSchema,
  PromotionSchema,
  RetailerSchema,
} from '../../domain/catalogue.ts';
import { PAGE_SIZE_MAX } from '../../domain/page.ts';
import { TransactionSchema } from '../../domain/transaction.ts';
import { type ParameterName, VALUE_LENGTH_MAX } from '../operations/query.ts';

export type Schema = Record<string, unknown>;

export interface ParameterObject {
  readonly name: string;
  readonly in: 'query';
  readonly description: string;
  readonly schema: Schema;
  readonly example?: string | number;
}

export interface HeaderObject {
  readonly description: string;
  readonly schema: Schema;
  readonly example: string | number;
  readonly required?: boolean;
}

const ITEMS: Record<string, { component: string; schema: z.ZodType; summary: string; description: string }> =
  {
    listRetailers: {
      component: 'Retailer',
      schema: RetailerSchema,
      summary: 'Retailers with active deals',
      description:
        'Lists the retailers that currently have at least one active offer, coupon or promotion, each with its active deals, in the order of their ids.',
    },
    listCashbackOffers: {
      component: 'CashbackOffer',
      schema: CashbackOfferSchema,
      summary: 'Cashback offers',
      description:
        "Lists cashback offers in the order of their ids. Filters narrow the list down to what matches all of them: name searches in the retailer's name, category is compared as a whole, both without regard to case and accents.",
    },
    listCoupons: {
      component: 'Coupon',
      schema: CouponSchema,
      summary: 'Coupons',
      description: 'Lists the coupons that are active now, in the order of their ids.',
    },
    listPromotions: {
      component: 'Promotion',
      schema: PromotionSchema,
      summary: 'Promotions',
      description: 'Lists the promotions that are active now, in the order of their ids.',
    },
    listTransactions: {
      component: 'Transaction',
      schema: TransactionSchema,
      summary: 'Transactions of your users',
      description:
        "Lists the transactions of the token's organisation, in the order of their ids. For servers only. To keep a copy that misses no change, walk all pages of updatedAtGreaterThan=W, the first time without it, store each row under its id, and remember the Complete-Through header of the first page. When the whole walk is stored, and not before, that value is the next W. If a walk fails, begin it again with the same W. A row may come twice; keep the later one. Complete-Through: T promises that every change stamped T or earlier was there to be read, and that every later change will carry an updatedAt greater than T.",
    },
  };

export function describedItem(operationId: string) {
  const found = ITEMS[operationId];
  if (found === undefined) throw new Error(`operation ${operationId} has no description`);
  return found;
}

const PARAMETER_OBJECTS: Record<ParameterName, Omit<ParameterObject, 'name' | 'in'>> = {
  cursor: {
    description:
      'Where the page starts: the cursor of the previous page. Without it, the first page is returned.',
    schema: { type: 'string', format: 'uuid' },
    example: '0192d1a0-0000-7000-8000-000000000001',
  },
  limit: {
    description:
      'How many items a page has at the most. A page may hold fewer items than the limit, because it also ends at 4 MiB; only one without a cursor is the last. An addition of this service.',
    schema: { type: 'integer', minimum: 1, maximum: PAGE_SIZE_MAX },
    example: 50,
  },
  name: {
    description: "Keeps offers whose retailer's name contains this text, ignoring case and accents.",
    schema: { type: 'string', maxLength: VALUE_LENGTH_MAX },
    example: 'green',
  },
  category: {
    description: 'Keeps offers of this category, ignoring case and accents.',
    schema: { type: 'string', maxLength: VALUE_LENGTH_MAX },
    example: 'Garden',
  },
  country: {
    description: 'Keeps offers that are available in this country, ISO 3166-1 alpha-2, in any case.',
    schema: { type: 'string', pattern: '^([A-Za-z]{2})?$' },
    example: 'DE',
  },
  updatedAtGreaterThan: {
    description: 'Keeps transactions updated after this date-time. ISO 8601; UTC unless it has an offset.',
    schema: { type: 'string', maxLength: VALUE_LENGTH_MAX },
    example: '2026-11-14T12:00:00',
  },
  updatedAtLessThan: {
    description: 'Keeps transactions updated before this date-time. ISO 8601; UTC unless it has an offset.',
    schema: { type: 'string', maxLength: VALUE_LENGTH_MAX },
    example: '2026-11-15T00:00:00',
  },
};

/** The operator chooses how many items a page has when the caller does not. */
export function parameterObject(name: ParameterName, pageSize: number): ParameterObject {
  const { schema, ...words } = PARAMETER_OBJECTS[name];
  return {
    name,
    in: 'query',
    ...words,
    schema: name === 'limit' ? { ...schema, default: pageSize } : schema,
  };
}

export const HEADERS = {
  'Request-Id': requiredHeader(
    'The id of this request; the one you sent, if you sent a sane one.',
    'string',
    '01931f4e-7d5c-7000-9a4e-0c7d3f1e2b5a',
  ),
  RateLimit: header(
    'What is left of the limit and in how many seconds it starts again.',
    'string',
    '"public";r=5999;t=60',
  ),
  'RateLimit-Policy': header(
    'The limit: so many requests in so many seconds.',
    'string',
    '"public";q=6000;w=60',
  ),
  Link: header(
    'The whole URL of the next page, when there is one.',
    'string',
    '<https://api.example/v1/retailers/?cursor=0192d1a0-0000-7000-8000-000000000001>; rel="next"',
  ),
  ETag: requiredHeader(
    'Send it back as If-None-Match: an unchanged page is answered with 304 and no body.',
    'string',
    '"1x7f0g2k3"',
  ),
  'Cache-Control': requiredHeader(
    'How long the answer may be kept, and by whom.',
    'string',
    'public, max-age=60',
  ),
  Vary: requiredHeader(
    'The request headers that the answer depends on.',
    'string',
    'Authorization, Accept-Encoding',
  ),
  'Complete-Through': requiredHeader(
    'Every change up to and including this stamp was visible to this read; every later change will carry a greater one.',
    'string',
    '2026-11-14T12:05:31.482',
  ),
  'WWW-Authenticate': header(
    'What kind of token is wanted, and what was wrong with the one sent.',
    'string',
    'Bearer realm="offerbook", error="invalid_token"',
  ),
  'Retry-After': requiredHeader('How many seconds to wait before trying again.', 'integer', 2),
  Allow: requiredHeader('The methods that are supported.', 'string', 'GET, HEAD'),
};
export type HeaderName = keyof typeof HEADERS;

/** What every error has. The limit is left out when the operator has turned it off. */
export const COMMON_ERROR_HEADERS: readonly HeaderName[] = [
  'Request-Id',
  'Cache-Control',
  'RateLimit',
  'RateLimit-Policy',
];

export const ERROR_HEADERS: Partial<Record<ErrorCode, readonly HeaderName[]>> = {
  missing_token: ['WWW-Authenticate'],
  invalid_token: ['WWW-Authenticate'],
  wrong_token_kind: ['WWW-Authenticate'],
  method_not_allowed: ['Allow'],
  rate_limited: ['Retry-After'],
  unavailable: ['Retry-After'],
};

/** A header that is on every answer for which the document lists it. */
function requiredHeader(
  description: string,
  type: 'string' | 'integer',
  example: string | number,
): HeaderObject {
  return { ...header(description, type, example), required: true };
}

function header(description: string, type: 'string' | 'integer', example: string | number): HeaderObject {
  return { description, schema: { type }, example };
}
