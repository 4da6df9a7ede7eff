// What the files of a network say about its retailers and deals, before it is put together: their ids, their rates, no
// share taken yet.

import type { Amount } from '@offerbook/wire/amount.ts';
import type { FieldProblem } from '@offerbook/wire/rows/raw-row.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Fields } from '../fields.ts';

export interface RetailerFact {
  readonly kind: 'retailer';
  readonly advertiserId: string;
  readonly name: string;
  readonly url: string;
  readonly logo?: string | undefined;
  readonly countries?: readonly string[] | undefined;
  readonly category?: string | undefined;
  readonly terms?: string | undefined;
  /** Of fixed rates that do not tell their own. */
  readonly currency?: string | undefined;
}

/** What the publisher earns: a fraction of the order value, or a fixed amount. */
export type Rate =
  | { readonly fraction: Amount }
  | { readonly fixed: Amount; readonly currency: string | undefined };

interface Deal {
  readonly advertiserId: string;
  readonly id: string;
  readonly description: string;
  /** Offers have no times, and networks do not tell all of the others. */
  readonly startDate?: Timestamp | undefined;
  readonly endDate?: Timestamp | undefined;
  /** Whether it counts only where the advertiser has no other offer, or no other coupon with its code at that time. */
  readonly isFallback?: boolean | undefined;
}

export interface OfferFact extends Deal {
  readonly kind: 'offer';
  /** By which a share of its own may be set; the id unless told. */
  readonly group?: string | undefined;
  readonly rate: Rate;
  readonly category?: string | undefined;
  readonly countries?: readonly string[] | undefined;
  readonly terms?: string | undefined;
}

export interface CouponFact extends Deal {
  readonly kind: 'coupon';
  readonly code: string;
}

export interface PromotionFact extends Deal {
  readonly kind: 'promotion';
  /** The retailer's own address unless told. */
  readonly deepLink?: string | undefined;
}

export type DealFact = OfferFact | CouponFact | PromotionFact;

/** That the publisher works with a retailer. Where a network tells it, the others are left out. */
export interface PartnershipFact {
  readonly kind: 'partnership';
  readonly advertiserId: string;
}

/** A row that is about nothing to be published, and what such rows are. */
export interface LeftOutFact {
  readonly kind: 'left out';
  readonly what: string;
}

/** A part of a row that cannot be read, while the rest can. */
export interface BadFact {
  readonly kind: 'bad';
  readonly id: string | undefined;
  readonly problems: readonly FieldProblem[];
}

export type CatalogueFact = RetailerFact | DealFact | PartnershipFact | LeftOutFact | BadFact;

export function leftOut(what: string): CatalogueFact[] {
  return [{ kind: 'left out', what }];
}

/** Reads parts of a row each by itself, so that a rate which cannot be read takes neither its retailer nor others along. */
export function readApart(
  parts: readonly Fields[],
  read: (part: Fields, index: number) => CatalogueFact[],
): CatalogueFact[] {
  return parts.flatMap((part, index): CatalogueFact[] => {
    const alone = part.alone();
    const facts = read(alone, index);
    if (alone.problems.length === 0) return facts;
    return [{ kind: 'bad', id: idOf(facts), problems: alone.problems }];
  });
}

/** What a row is called in messages: the first id that it tells. */
export function idOf([first]: readonly CatalogueFact[]): string | undefined {
  if (first === undefined || first.kind === 'left out') return undefined;
  return ('id' in first ? first.id : first.advertiserId) || undefined;
}
