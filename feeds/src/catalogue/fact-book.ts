// Collects facts by advertiser. A repeated fact counts once; conflicting facts are a problem, and neither counts.

import type { FeedPlace } from '../convert-run.ts';
import type { DealFact, PartnershipFact, RetailerFact } from './facts.ts';

/** A fact and the first place where it was read. */
export interface PlacedFact<Fact> {
  readonly fact: Fact;
  readonly place: FeedPlace;
}

export interface RetailerFacts extends PlacedFact<RetailerFact> {
  readonly deals: readonly PlacedFact<DealFact>[];
}

interface Entry<Fact> extends PlacedFact<Fact> {
  /** Place of a different fact with the same id. */
  conflict: FeedPlace | undefined;
}

export class FactBook {
  readonly #retailers = new Map<string, Entry<RetailerFact>>();
  readonly #deals = new Map<string, Entry<DealFact>>();
  readonly #isPartnersOnly: boolean;
  readonly #partners = new Set<string>();

  /** `isPartnersOnly`: a file lists the partners, so other retailers are left out, even if there are no partners. */
  constructor(isPartnersOnly: boolean) {
    this.#isPartnersOnly = isPartnersOnly;
  }

  add(fact: RetailerFact | DealFact | PartnershipFact, place: FeedPlace): void {
    if (fact.kind === 'partnership') this.#partners.add(fact.advertiserId);
    else if (fact.kind === 'retailer') note(this.#retailers, fact.advertiserId, fact, place);
    else note(this.#deals, `${fact.kind} ${fact.id}`, fact, place);
  }

  *conflicts(): Generator<{ readonly id: string; readonly place: FeedPlace }> {
    for (const [id, { conflict }] of this.#retailers) {
      if (conflict !== undefined) yield { id, place: conflict };
    }
    for (const { fact, conflict } of this.#deals.values()) {
      if (conflict !== undefined) yield { id: fact.id, place: conflict };
    }
  }

  /** Retailers that are partners, with their deals. */
  retailers(): readonly RetailerFacts[] {
    const deals = Map.groupBy(agreed(this.#deals), ({ fact }) => fact.advertiserId);
    return agreed(this.#retailers)
      .filter(({ fact }) => !this.#isPartnersOnly || this.#partners.has(fact.advertiserId))
      .map(({ fact, place }) => ({
        fact,
        place,
        deals: withoutFallbacks(deals.get(fact.advertiserId) ?? []),
      }));
  }

  /** Deals whose retailer is unknown. */
  orphans(known: readonly RetailerFacts[]): readonly DealFact[] {
    const ids = new Set(known.map(({ fact }) => fact.advertiserId));
    return [...this.#deals.values()].flatMap(({ fact }) => (ids.has(fact.advertiserId) ? [] : [fact]));
  }
}

function note<Fact>(facts: Map<string, Entry<Fact>>, key: string, fact: Fact, place: FeedPlace): void {
  const before = facts.get(key);
  if (before === undefined) facts.set(key, { fact, place, conflict: undefined });
  else if (!Bun.deepEquals(before.fact, fact)) before.conflict = place;
}

function agreed<Fact>(facts: ReadonlyMap<string, Entry<Fact>>): PlacedFact<Fact>[] {
  return [...facts.values()].filter(({ conflict }) => conflict === undefined);
}

function withoutFallbacks(deals: readonly PlacedFact<DealFact>[]): readonly PlacedFact<DealFact>[] {
  const known = Map.groupBy(
    deals.map(({ fact }) => fact).filter((fact) => fact.isFallback !== true),
    roleOf,
  );
  return deals.filter(
    ({ fact }) =>
      fact.isFallback !== true || !known.get(roleOf(fact))?.some((other) => areAtOnce(fact, other)),
  );
}

function roleOf(fact: DealFact): string {
  return fact.kind === 'coupon' ? `coupon ${fact.code}` : fact.kind;
}

function areAtOnce(a: DealFact, b: DealFact): boolean {
  return beginsBeforeEnd(a, b) && beginsBeforeEnd(b, a);
}

function beginsBeforeEnd({ startDate }: DealFact, { endDate }: DealFact): boolean {
  return startDate === undefined || endDate === undefined || startDate < endDate;
}
