// The component schemas of the OpenAPI document. Items are generated from the Zod schemas that validate imports; pages and
// problems are written here. Every object is a component, because generators name their types after components. No schema
// forbids additional properties: responses may gain fields without a new version.

import {
  CashbackOfferSchema,
  CouponSchema,
  PromotionSchema,
  RetailerDomainsSchema,
  RetailerSchema,
  TransactionRetailerSchema,
} from '@offerbook/wire/catalogue.ts';
import { DEAL_LISTS } from '@offerbook/wire/deals.ts';
import { TransactionSchema } from '@offerbook/wire/transaction.ts';
import { z } from 'zod';
import { ERROR_CODES } from '../../domain/api-errors.ts';
import { UUID } from '../operations/parameters.ts';

export type Schema = Record<string, unknown>;

export function schemaRef(component: string): Schema {
  return { $ref: `#/components/schemas/${component}` };
}

/** Returns the schema of an object. All properties are required, except those listed. */
export function objectSchema(
  description: string,
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', description, required, properties };
}

const ITEM_SCHEMAS = {
  Retailer: RetailerSchema,
  CashbackOffer: CashbackOfferSchema,
  Coupon: CouponSchema,
  Promotion: PromotionSchema,
  RetailerDomains: RetailerDomainsSchema,
  Transaction: TransactionSchema,
} satisfies Record<string, z.ZodType>;
export type ItemComponent = keyof typeof ITEM_SCHEMAS;

/** Component names for the items of a retailer's lists. */
const EMBEDDED = {
  cashbackOffers: 'RetailerOffer',
  coupons: 'RetailerCoupon',
  promotions: 'RetailerPromotion',
} as const;

/** Returns the components for the items of an operation: the item, the objects that it contains, and a page of items. */
export function itemSchemas(component: ItemComponent): Record<string, Schema> {
  const item = responseSchema(ITEM_SCHEMAS[component]);
  const properties = { ...(item.properties as Record<string, Schema>) };
  const contained: Record<string, Schema> = {};
  if (component === 'Retailer') {
    for (const list of DEAL_LISTS) {
      contained[EMBEDDED[list]] = properties[list]?.items as Schema;
      properties[list] = { ...properties[list], items: schemaRef(EMBEDDED[list]) };
    }
  }
  if (component === 'Transaction') {
    contained.TransactionRetailer = responseSchema(TransactionRetailerSchema);
    properties.retailer = {
      description:
        'The retailer, only with `expand=retailer`; `null` if it is unknown or no longer in the catalogue. Not part of the snapshot: its changes do not change `updatedAt`',
      anyOf: [schemaRef('TransactionRetailer'), { type: 'null' }],
    };
  }
  return {
    [component]: { ...item, properties },
    ...contained,
    [`${component}Page`]: pageSchema(component),
  };
}

function pageSchema(component: ItemComponent): Schema {
  return objectSchema(
    'One page of a list',
    {
      data: { type: 'array', description: 'Items on this page', items: schemaRef(component) },
      cursor: { ...UUID, description: 'Id of the next item; absent on the last page' },
    },
    ['cursor'],
  );
}

export const PROBLEM_SCHEMAS: Record<string, Schema> = {
  Problem: objectSchema(
    'Problem details (RFC 9457)',
    {
      type: { type: 'string', format: 'uri-reference', description: 'URL of a page that explains the error' },
      title: { type: 'string', description: 'Summary of the error; the same for every error with this code' },
      status: { type: 'integer', description: 'HTTP status' },
      detail: { type: 'string', description: 'Description of this error' },
      instance: { type: 'string', description: 'Path of the request' },
      code: { type: 'string', enum: ERROR_CODES, description: 'Stable error code for programs' },
      requestId: { type: 'string', description: "Id of the request in the service's log" },
      errors: { type: 'array', description: 'All invalid parameters', items: schemaRef('ParameterError') },
    },
    ['errors'],
  ),
  ParameterError: objectSchema('An invalid parameter', {
    parameter: { type: 'string', description: 'Name of the parameter' },
    detail: { type: 'string', description: 'What is wrong with the parameter' },
  }),
};

/** Converts a Zod schema, without defaults and the rejection of unknown fields, which apply only to imports. */
function responseSchema(zodSchema: z.ZodType): Schema {
  const { $schema: _, ...schema }: Schema = z.toJSONSchema(zodSchema, {
    io: 'output',
    override: ({ jsonSchema }) => {
      delete jsonSchema.default;
      delete jsonSchema.additionalProperties;
      if (jsonSchema.anyOf !== undefined) joinNull(jsonSchema);
    },
  });
  return schema;
}

/** Turns `anyOf: [X, null]` into `type: [X, null]`, because generators drop the description of an `anyOf`. */
function joinNull(schema: Schema): void {
  const [value, nothing, ...others] = schema.anyOf as Schema[];
  if (value === undefined || nothing?.type !== 'null' || others.length > 0)
    throw new Error(`anyOf is supported only for nullable schemas: ${JSON.stringify(schema)}`);
  delete schema.anyOf;
  Object.assign(schema, { ...value, ...schema, type: [value.type, 'null'] });
}
