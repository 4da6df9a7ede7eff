// Converts the facts about a retailer to a line for `offerbook import catalogue`: our ids, the user's share, and the data of
// the overlay. The retailer and each deal are validated separately with the schema of the import, so that an invalid coupon
// does not invalidate its retailer.

import { type Amount, multiply, round, toNumber } from '@offerbook/wire/amount.ts';
import { printRetailer, type Retailer, RetailerSchema } from '@offerbook/wire/catalogue.ts';
import type { DealList } from '@offerbook/wire/deals.ts';
import type { FieldProblem } from '@offerbook/wire/rows/raw-row.ts';
import { checkRow } from '@offerbook/wire/rows/row-problem.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { z } from 'zod';
import { type IdMaker, idMaker } from '../derive-id.ts';
import { minorUnits } from '../minor-units.ts';
import type { Overlay } from '../source/overlay.ts';
import type { Shares } from '../source/share.ts';
import type { Source } from '../source/source-file.ts';
import { LAST_SECOND } from '../zoned-time.ts';
import type { DealFact, OfferFact, RetailerFact } from './facts.ts';

export interface CatalogueRules {
  readonly source: Source;
  readonly shares: Shares;
  readonly overlay: Overlay;
}

/** Start of deals without one. A deal without an end lasts until the network no longer lists it. */
const NO_START = '1970-01-01T00:00:00' as Timestamp;
const MISSING = 'is missing from both the network and the overlay';

/** The result, or why there is none. */
export type Made<Value> =
  | { readonly value: Value; readonly problems?: undefined }
  | { readonly value?: undefined; readonly problems: readonly FieldProblem[] };

export type Deals = { readonly [List in DealList]: Retailer[List] };

const LISTS = { offer: 'cashbackOffers', coupon: 'coupons', promotion: 'promotions' } as const;
const { shape } = RetailerSchema;

export class RetailerMaker {
  readonly #rules: CatalogueRules;
  readonly #makeId: IdMaker;

  constructor(rules: CatalogueRules) {
    this.#rules = rules;
    this.#makeId = idMaker(rules.source);
  }

  /** The output line of a retailer, with the id for sorting. */
  makeRetailer(retailer: RetailerFact, deals: Deals): Made<{ id: string; document: string }> {
    const { url } = retailer;
    const value = {
      id: this.#makeId('retailer', retailer.advertiserId),
      name: retailer.name,
      hostname: URL.canParse(url) ? new URL(url).hostname : '',
      url,
      logo: this.#rules.overlay.get(retailer.advertiserId)?.logo ?? retailer.logo,
      ...deals,
    };
    const checked = checkRow<Retailer>({ place: { line: 1 }, value }, RetailerSchema);
    if (checked.value !== undefined)
      return { value: { id: value.id, document: printRetailer(checked.value) } };
    const isNoLogo = ({ field }: FieldProblem) => field === 'logo' && value.logo === undefined;
    return {
      problems: checked.problems.map((it) => (isNoLogo(it) ? { field: 'logo', reason: MISSING } : it)),
    };
  }

  /** Adds a valid deal to the lists of its retailer; returns the problems of an invalid one. */
  addDeal(deal: DealFact, retailer: RetailerFact, deals: Deals): readonly FieldProblem[] {
    const made = deal.kind === 'offer' ? this.#makeOffer(deal, retailer) : this.#makeDeal(deal, retailer);
    if (made.problems !== undefined) return made.problems;
    const list = LISTS[deal.kind];
    const schema: z.ZodType = shape[list].element;
    const checked = checkRow({ place: { line: 1 }, value: made.value }, schema);
    if (checked.problems !== undefined) return checked.problems;
    // The cast is safe: the item has passed the schema of this list.
    (deals[list] as unknown[]).push(checked.value);
    return [];
  }

  #makeDeal(deal: Exclude<DealFact, OfferFact>, retailer: RetailerFact): Made<object> {
    const { kind, description, startDate, endDate } = deal;
    const id = this.#makeId(kind, deal.id);
    const dates = { startDate: startDate ?? NO_START, endDate: endDate ?? LAST_SECOND };
    if (kind === 'coupon') return { value: { code: deal.code, id, description, ...dates } };
    return { value: { id, description, ...dates, deepLink: deal.deepLink ?? retailer.url } };
  }

  #makeOffer(offer: OfferFact, retailer: RetailerFact): Made<object> {
    const { source, shares, overlay } = this.#rules;
    const entry = overlay.get(offer.advertiserId) ?? {};
    const ofSource = source.country === undefined ? undefined : [source.country];
    const countries = entry.countries ?? offer.countries ?? retailer.countries ?? ofSource;
    if (countries === undefined) return { problems: [{ field: 'countries', reason: MISSING }] };
    const rate = this.#applyShare(offer, shares.find(offer.advertiserId, offer.group ?? offer.id), retailer);
    if (rate === undefined) return { problems: [{ field: 'currency', reason: MISSING }] };
    return {
      value: {
        id: this.#makeId('offer', offer.id),
        featured: entry.featured ?? false,
        countries,
        ...rate,
        description: offer.description,
        category: entry.category ?? offer.category ?? retailer.category ?? '',
        termsAndExclusions: offer.terms ?? retailer.terms ?? '',
      },
    };
  }

  /** Undefined for a fixed amount in an unknown currency, because it cannot be rounded. */
  #applyShare({ rate }: OfferFact, share: Amount, retailer: RetailerFact) {
    if ('fraction' in rate) {
      const cashbackPercentage = toNumber(multiply(rate.fraction, share));
      return { cashbackPercentage, maximumFixedCommissionFee: null };
    }
    const currency = rate.currency ?? retailer.currency;
    if (currency === undefined) return undefined;
    const fee = round(multiply(rate.fixed, share), minorUnits(currency), this.#rules.source.rounding);
    return { cashbackPercentage: 0, maximumFixedCommissionFee: toNumber(fee) };
  }
}
