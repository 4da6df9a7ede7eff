// The fields of retailers and deals as the schemas name them, in their order, so that a new field of a schema is served
// without a word here.

import type { z } from 'zod';
import {
  CashbackOfferSchema,
  CouponSchema,
  PromotionSchema,
  RetailerSchema,
} from '../../domain/catalogue.ts';
import { DEAL_LISTS, type DealList, forEachDealList } from '../../domain/deals.ts';
import { printJson } from '../../domain/decimal.ts';

type Shape = Readonly<Record<string, z.ZodType>>;
type AnyObject = z.ZodObject<Shape>;

/** The schemas of what is served: a retailer with its lists, and the list form of each kind of deal. */
export interface WireSchemas {
  readonly retailer: z.ZodObject<Shape & Record<DealList, z.ZodArray<AnyObject>>>;
  readonly listForms: Readonly<Record<DealList, AnyObject>>;
}

export const WIRE_SCHEMAS: WireSchemas = {
  retailer: RetailerSchema as unknown as WireSchemas['retailer'],
  listForms: { cashbackOffers: CashbackOfferSchema, coupons: CouponSchema, promotions: PromotionSchema },
};

/** Prints some fields of a stored object, as a JSON object. */
export type FieldPrinter = (stored: Readonly<Record<string, unknown>>) => string;

export interface DealFields {
  readonly deal: FieldPrinter;
  /** What the list form has besides, of the retailer. */
  readonly retailer: FieldPrinter;
  /** Whether a deal is only active for a time. */
  readonly hasPeriod: boolean;
}

export interface WireFields {
  /** The retailer's own fields, without its lists. */
  readonly retailer: FieldPrinter;
  readonly deals: Readonly<Record<DealList, DealFields>>;
}

export function wireFields({ retailer, listForms }: WireSchemas): WireFields {
  const { shape } = retailer;
  return {
    retailer: printer(
      Object.entries(shape).filter(([name]) => !(DEAL_LISTS as readonly string[]).includes(name)),
    ),
    deals: forEachDealList((list) => {
      const deal = shape[list].element.shape;
      const ofRetailer = Object.entries(listForms[list].shape).filter(([name]) => !(name in deal));
      return {
        deal: printer(Object.entries(deal)),
        retailer: printer(ofRetailer, (name) => (name === 'retailerId' ? 'id' : name)),
        hasPeriod: 'startDate' in deal,
      };
    }),
  };
}

/** A document that was stored before a field was added to the schema gets the field's default. */
function printer(
  fields: readonly (readonly [string, z.ZodType])[],
  storedName: (name: string) => string = (name) => name,
): FieldPrinter {
  const printed = fields.map(([name, schema]) => ({
    name,
    storedName: storedName(name),
    fallback: schema.safeParse(undefined).data,
  }));
  return (stored) => {
    const object: Record<string, unknown> = {};
    for (const { name, storedName, fallback } of printed) {
      const value = stored[storedName];
      object[name] = value === undefined ? fallback : value;
    }
    return printJson(object);
  };
}
