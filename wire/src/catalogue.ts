// Wire format of the catalogue: a retailer with its embedded cashback offers, coupons and promotions, and the list form of
// each. These schemas validate imports, define the TypeScript types, and generate the OpenAPI document.

import { z } from 'zod';
import {
  canonicalCopy,
  canonicalFormOf,
  canonicalList,
  orNull,
  withCanonicalForm,
} from './canonical-form.ts';
import { type DealList, forEachDealList } from './deals.ts';
import { printJson } from './decimal.ts';
import {
  countryCode,
  filledText,
  flag,
  fraction,
  LIST,
  listOf,
  money,
  OBJECT,
  optionalText,
  text,
  timestamp,
  uuid,
  webUrl,
} from './scalars.ts';
import type { Timestamp } from './timestamp.ts';
import type { Uuid } from './uuid.ts';

/** Ids used in the documentation and in `examples/`. */
export const EXAMPLE_IDS = {
  retailers: '0192d1a0-0000-7000-8000-000000000001' as Uuid,
  cashbackOffers: '0192d1a0-0000-7000-8000-000000000011' as Uuid,
  coupons: '0192d1a0-0000-7000-8000-000000000021' as Uuid,
  promotions: '0192d1a0-0000-7000-8000-000000000031' as Uuid,
};

/** The number of possible two-letter codes. */
const COUNTRY_CODES_MAX = 26 ** 2;
const country = countryCode('Country code, ISO 3166-1 alpha-2', 'DE');
const fixedCashback = money("The offer's fixed cashback; `null` when the retailer offers a percentage", 7.5);

const cashbackOfferFields = {
  id: uuid('Offer identifier', EXAMPLE_IDS.cashbackOffers),
  featured: flag('True when the service features the offer as an outstanding deal', true),
  countries: withCanonicalForm(
    listOf(country, COUNTRY_CODES_MAX).meta({
      description: 'Countries where the offer is available, ISO 3166-1 alpha-2',
      examples: [['DE', 'AT']],
    }),
    { test: canonicalList(country, COUNTRY_CODES_MAX) },
  ),
  cashbackPercentage: fraction('Cashback as a fraction of the order value: 0.05 is five percent', 0.05),
  maximumFixedCommissionFee: withCanonicalForm(
    // The example offer pays a percentage.
    fixedCashback
      .nullable()
      .meta({ examples: [null] })
      .default(null),
    canonicalFormOf(orNull(fixedCashback)),
  ),
  description: optionalText('Description of the offer', 'On everything in the shop'),
  category: optionalText('Category of the offer', 'Garden'),
  termsAndExclusions: optionalText('Terms and exclusions of the offer', 'Not on gift cards'),
};

const couponFields = {
  code: text('The coupon code value', 'SPRING10'),
  id: uuid('Coupon identifier', EXAMPLE_IDS.coupons),
  description: optionalText('Description', '10% off all bulbs'),
  startDate: timestamp('When the coupon becomes active (UTC)', '2026-03-01T00:00:00'),
  endDate: timestamp('When the coupon expires (UTC)', '2026-06-01T00:00:00'),
};

const promotionFields = {
  id: uuid('Promotion identifier', EXAMPLE_IDS.promotions),
  description: optionalText('Description', 'Free delivery this week'),
  startDate: timestamp('When the promotion becomes active (UTC)', '2026-03-01T00:00:00'),
  endDate: timestamp('When the promotion expires (UTC)', '2026-06-01T00:00:00'),
  deepLink: webUrl('Deep link URL for the promotion', 'https://www.greenthumb.example/free-delivery'),
};

const ownFields = {
  id: uuid('Retailer identifier', EXAMPLE_IDS.retailers),
  name: filledText('Retailer name', 'Greenthumb'),
  hostname: filledText("Hostname of the retailer's website", 'www.greenthumb.example'),
  url: webUrl("URL of the retailer's website", 'https://www.greenthumb.example/'),
  logo: webUrl("URL of the retailer's logo", 'https://www.greenthumb.example/logo.svg'),
};

/** Retailer fields in the list form of offers, coupons and promotions. */
const listFields = {
  retailerId: uuid('Retailer identifier', EXAMPLE_IDS.retailers),
  logo: ownFields.logo,
  url: ownFields.url,
  name: ownFields.name,
};

/** The retailer of a transaction, with `expand=retailer`. */
export const TransactionRetailerSchema = z.strictObject({
  id: ownFields.id,
  name: ownFields.name,
  hostname: ownFields.hostname,
  logo: ownFields.logo,
});
export type TransactionRetailer = z.output<typeof TransactionRetailerSchema>;

function endsAfterStart(deal: { startDate: Timestamp; endDate: Timestamp }): boolean {
  return deal.endDate > deal.startDate;
}
const endsAfterStartError = { error: 'must be after startDate', path: ['endDate'] };

/** Schema of an import row. `unknownFields` selects whether unknown fields are errors. */
export function retailerRowSchema(unknownFields: 'refuse' | 'ignore') {
  const object = <Shape extends z.ZodRawShape>(shape: Shape) =>
    (unknownFields === 'refuse'
      ? z.strictObject(shape, OBJECT)
      : z.object(shape, OBJECT)) as z.ZodObject<Shape>;
  return object({
    ...ownFields,
    cashbackOffers: z
      .array(object(cashbackOfferFields), LIST)
      .meta({ description: "The retailer's cashback offers" }),
    coupons: z
      .array(object(couponFields).refine(endsAfterStart, endsAfterStartError), LIST)
      .meta({ description: "The retailer's active coupons" }),
    promotions: z
      .array(object(promotionFields).refine(endsAfterStart, endsAfterStartError), LIST)
      .meta({ description: "The retailer's active promotions" }),
  });
}

/** Fast path: returns what the schema of an import row would return for a deal, or undefined to use the schema. */
export const COPY_CANONICAL_DEAL: Readonly<Record<DealList, (deal: unknown) => unknown>> = {
  cashbackOffers: canonicalCopy(cashbackOfferFields),
  coupons: ifEndsAfterStart(canonicalCopy(couponFields)),
  promotions: ifEndsAfterStart(canonicalCopy(promotionFields)),
};

function ifEndsAfterStart(copyDeal: ReturnType<typeof canonicalCopy>): ReturnType<typeof canonicalCopy> {
  return (deal) => {
    const copy = copyDeal(deal);
    return copy !== undefined && endsAfterStart(copy as Coupon | Promotion) ? copy : undefined;
  };
}

export const RetailerSchema = retailerRowSchema('refuse');
export const CashbackOfferSchema = z.strictObject({ ...cashbackOfferFields, ...listFields });
export const CouponSchema = z.strictObject({ ...couponFields, ...listFields });
export const PromotionSchema = z.strictObject({ ...promotionFields, ...listFields });

/** A retailer in the list of domains. */
export const RetailerDomainsSchema = z.strictObject({
  id: ownFields.id,
  name: ownFields.name,
  domains: z.array(z.string()).meta({
    description:
      "Domains of the retailer's site, each with all of its subdomains: that of its hostname without www., and others. In lower-case ASCII",
    examples: [['greenthumb.example']],
  }),
  cashbackPercentage: cashbackOfferFields.cashbackPercentage.nullable().meta({
    description:
      "Cashback of the retailer's best offer, as a fraction of the order value; `null` if it has no cashback offer",
  }),
  maximumFixedCommissionFee: money(
    "Fixed cashback of the retailer's best offer; `null` when it pays a percentage",
    7.5,
  )
    .nullable()
    .meta({ examples: [null] }),
});

export type Retailer = z.output<typeof RetailerSchema>;
export type RetailerDomains = z.output<typeof RetailerDomainsSchema>;
export type CashbackOffer = Retailer['cashbackOffers'][number];
export type Coupon = Retailer['coupons'][number];
export type Promotion = Retailer['promotions'][number];

/** Returns the stored document of a retailer: JSON with its lists sorted by id. */
export function printRetailer(retailer: Retailer): string {
  return printJson({ ...retailer, ...forEachDealList((list) => inIdOrder<{ id: Uuid }>(retailer[list])) });
}

function inIdOrder<Item extends { id: Uuid }>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
