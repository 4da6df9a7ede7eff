// Converts the facts about a retailer to a line for `offerbook import catalogue`: adds our ids, the user's share, and the
// overlay's data. Validates the retailer and each deal separately with the import schema, so that an invalid coupon does
// not invalidate its retailer.

import { multiply, toNumber } from '@offerbook/wire/amount.ts';
import { printRetailer, type Retailer, RetailerSchema } from '@offerbook/wire/catalogue.ts';
import type { DealList } from '@offerbook/wire/deals.ts';
import type { FieldProblem } from '@offerbook/wire/rows/raw-row.ts';
import { checkRow } from '@offerbook/wire/rows/row-problem.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { z } from 'zod';
import type { Overlay } from '../source/overlay.ts';
import type { Shares } from '../source/share.ts';
import { deriveId, linkOf, type Source } from '../source/source-file.ts';
import { LAST_SECOND } from '../zoned-time.ts';
import type { DealFact, OfferFact, RetailerFact } from './facts.ts';

export interface CatalogueRules {
  readonly source: Source;
  readonly overlay: Overlay;
}

export type DealRules = CatalogueRules & { readonly shares: Shares };

/** Start of deals that have no start date. A deal without an end date lasts until the network no longer lists it. */
const NO_START = '1970-01-01T00:00:00' as Timestamp;

export type Deals = { readonly [List in DealList]: unknown[] };

const LISTS = { offer: 'cashbackOffers', coupon: 'coupons', promotion: 'promotions' } as const;

/** Returns the output line of a retailer, with its id for sorting. */
export function toRetailer(
  { advertiserId, name, url, logo }: RetailerFact,
  deals: Deals,
  { source, overlay }: CatalogueRules,
) {
  const id = deriveId(source, 'retailer', advertiserId);
  const hostname = URL.canParse(url) ? new URL(url).hostname : '';
  const standardLogo = source.logo && linkOf(source.logo, advertiserId);
  const shownLogo = overlay.get(advertiserId)?.logo ?? logo ?? standardLogo;
  const retailer = { id, name, hostname, url, logo: shownLogo, ...deals };
  const { value, problems } = check<Retailer>(retailer, RetailerSchema);
  return problems === undefined ? { id, document: printRetailer(value), problems } : { problems };
}

/** Adds a valid deal to its retailer's lists. Returns the problems of an invalid deal. */
export function addDeal(
  deal: DealFact,
  retailer: RetailerFact,
  deals: Deals,
  rules: DealRules,
): readonly FieldProblem[] {
  const list = LISTS[deal.kind];
  const schema: z.ZodType = RetailerSchema.shape[list].element;
  const built = deal.kind === 'offer' ? buildOffer(deal, retailer, rules) : buildDeal(deal, retailer, rules);
  if (built === undefined) return [{ field: 'currency', reason: MISSING }];
  const { value, problems } = check(built, schema);
  if (problems !== undefined) return problems;
  deals[list].push(value);
  return [];
}

const MISSING = 'is missing from both the network and the overlay';

/** The overlay can provide every field that may be missing here, so the message mentions the overlay. */
function check<Value>(row: unknown, schema: z.ZodType<Value>) {
  const { value, problems } = checkRow({ place: { line: 1 }, value: row }, schema);
  if (problems === undefined) return { value, problems };
  const told = problems.map(({ field, reason }): FieldProblem => {
    return { field, reason: reason === 'is missing' ? MISSING : reason };
  });
  return { value, problems: told };
}

function buildDeal(deal: Exclude<DealFact, OfferFact>, { url }: RetailerFact, { source }: CatalogueRules) {
  const { kind, description, startDate, endDate } = deal;
  const id = deriveId(source, kind, deal.id);
  const dates = { startDate: startDate ?? NO_START, endDate: endDate ?? LAST_SECOND };
  if (kind === 'coupon') return { code: deal.code, id, description, ...dates };
  return { id, description, ...dates, deepLink: deal.deepLink ?? url };
}

function buildOffer(offer: OfferFact, retailer: RetailerFact, rules: DealRules) {
  const { country } = rules.source;
  const entry = rules.overlay.get(offer.advertiserId);
  const rate = applyShare(offer, retailer, rules);
  return (
    rate && {
      id: deriveId(rules.source, 'offer', offer.id),
      featured: entry?.featured ?? false,
      countries: entry?.countries ?? offer.countries ?? retailer.countries ?? (country && [country]),
      ...rate,
      description: offer.description,
      category: entry?.category ?? offer.category ?? retailer.category ?? '',
      termsAndExclusions: offer.terms ?? retailer.terms ?? '',
    }
  );
}

/** Returns undefined for a fixed amount in an unknown currency, because it cannot be rounded. */
function applyShare(offer: OfferFact, retailer: RetailerFact, { shares }: DealRules) {
  const { advertiserId, id, group = id, rate } = offer;
  if ('fraction' in rate) {
    const cashbackPercentage = toNumber(multiply(rate.fraction, shares.find(advertiserId, group)));
    return { cashbackPercentage, maximumFixedCommissionFee: null };
  }
  const currency = rate.currency ?? retailer.currency;
  if (currency === undefined) return undefined;
  const maximumFixedCommissionFee = shares.apply(advertiserId, [{ amount: rate.fixed, group }], currency);
  return { cashbackPercentage: 0, maximumFixedCommissionFee };
}
