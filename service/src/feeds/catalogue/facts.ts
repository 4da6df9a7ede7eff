// What the files of a network say about its retailers and deals, before it is put together: their ids, their rates, no
// share taken yet.

import type { Timestamp } from '../../domain/timestamp.ts';
import type { FieldProblem } from '../../importer/formats/raw-row.ts';
import type { Amount } from '../amount.ts';

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

export interface OfferFact {
  readonly kind: 'offer';
  readonly advertiserId: string;
  readonly id: string;
  /** By which a share of its own may be set; the id unless told. */
  readonly group?: string | undefined;
  readonly rate: Rate;
  /** Whether it counts only where nothing else is known of the advertiser. */
  readonly isFallback?: boolean | undefined;
  readonly description: string;
  readonly category?: string | undefined;
  readonly countries?: readonly string[] | undefined;
  readonly terms?: string | undefined;
}

export interface CouponFact {
  readonly kind: 'coupon';
  readonly advertiserId: string;
  readonly id: string;
  readonly code: string;
  /** Whether it counts only where nothing else tells of a coupon with this code. */
  readonly isFallback?: boolean | undefined;
  readonly description: string;
  readonly startDate: Timestamp | undefined;
  readonly endDate: Timestamp | undefined;
}

export interface PromotionFact {
  readonly kind: 'promotion';
  readonly advertiserId: string;
  readonly id: string;
  readonly description: string;
  readonly startDate: Timestamp | undefined;
  readonly endDate: Timestamp | undefined;
  /** The retailer's own address unless told. */
  readonly deepLink?: string | undefined;
}

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

export type CatalogueFact =
  | RetailerFact
  | OfferFact
  | CouponFact
  | PromotionFact
  | PartnershipFact
  | LeftOutFact
  | BadFact;

export function leftOut(what: string): CatalogueFact[] {
  return [{ kind: 'left out', what }];
}
