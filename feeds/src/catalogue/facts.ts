// Facts about retailers and deals from a network's files, before they are joined. Ids are the network's. Rates are the full
// commission, before the share is applied.

import type { Amount } from '@offerbook/wire/amount.ts';
import type { FieldProblem } from '@offerbook/wire/rows/raw-row.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Fields } from '../fields.ts';

export interface RetailerFact {
  readonly kind: 'retailer';
  readonly advertiserId: string;
  readonly name: string;
  readonly url: string;
  /** Hostnames of the retailer's other sites. */
  readonly domains?: readonly string[] | undefined;
  readonly logo?: string | undefined;
  readonly countries?: readonly string[] | undefined;
  readonly category?: string | undefined;
  readonly terms?: string | undefined;
  /** Currency of fixed rates that do not specify one. */
  readonly currency?: string | undefined;
}

/** The publisher's commission: a fraction of the order value, or a fixed amount. */
export type Rate =
  | { readonly fraction: Amount }
  | { readonly fixed: Amount; readonly currency: string | undefined };

interface Deal {
  readonly advertiserId: string;
  readonly id: string;
  readonly description: string;
  /** Undefined for offers, and for coupons and promotions with unknown dates. */
  readonly startDate?: Timestamp | undefined;
  readonly endDate?: Timestamp | undefined;
  /**
   * True for a fallback. A fallback offer is used only if the advertiser has no other offer; a fallback coupon, only if no
   * other coupon with the same code overlaps its period.
   */
  readonly isFallback?: boolean | undefined;
}

export interface OfferFact extends Deal {
  readonly kind: 'offer';
  /** Commission group, used to look up a group share. Defaults to the id. */
  readonly group?: string | undefined;
  readonly rate: Rate;
  readonly category?: string | undefined;
  readonly countries?: readonly string[] | undefined;
  readonly terms?: string | undefined;
}

interface CouponFact extends Deal {
  readonly kind: 'coupon';
  readonly code: string;
}

interface PromotionFact extends Deal {
  readonly kind: 'promotion';
  /** Defaults to the retailer's URL. */
  readonly deepLink?: string | undefined;
}

export type DealFact = OfferFact | CouponFact | PromotionFact;

/** Marks a partner of the publisher. If a file lists partnerships, retailers without one are left out. */
export interface PartnershipFact {
  readonly kind: 'partnership';
  readonly advertiserId: string;
}

/** A row that contains nothing to publish, with its category for the report. */
interface LeftOutFact {
  readonly kind: 'left out';
  readonly what: string;
}

/** An invalid part of a row whose other parts are valid. */
interface InvalidFact {
  readonly kind: 'invalid';
  readonly id: string | undefined;
  readonly problems: readonly FieldProblem[];
}

export type CatalogueFact = RetailerFact | DealFact | PartnershipFact | LeftOutFact | InvalidFact;

/** The facts in one row. */
export type RowFacts = CatalogueFact | readonly CatalogueFact[];

export function leftOut(what: string): CatalogueFact {
  return { kind: 'left out', what };
}

/** Reads each part of a row separately, so that an invalid rate does not invalidate its retailer or other rates. */
export function readSeparately(
  parts: readonly Fields[],
  read: (part: Fields, index: number) => CatalogueFact,
): CatalogueFact[] {
  return parts.map((part, index) => {
    const fields = part.separate();
    const fact = read(fields, index);
    if (fields.problems.length === 0) return fact;
    return { kind: 'invalid', id: idOf(fact), problems: fields.problems };
  });
}

/** Id of a fact, for messages. */
export function idOf(fact: CatalogueFact | undefined): string | undefined {
  if (fact === undefined || fact.kind === 'left out') return undefined;
  return 'id' in fact ? fact.id : fact.advertiserId;
}
