// Collects facts by advertiser. A repeated fact counts once. Facts that contradict each other are reported as a problem and
// ignored.

import type { FeedPlace } from '../convert-run.ts';
import type { DealFact, PartnershipFact, RetailerFact } from './facts.ts';

/** A fact and the position where it was first read. */
export interface PlacedFact<Fact> {
  readonly fact: Fact;
  readonly place: FeedPlace;
}

export interface RetailerFacts extends PlacedFact<RetailerFact> {
  readonly deals: readonly PlacedFact<DealFact>[];
}

interface Entry<Fact> extends PlacedFact<Fact> {
  /** Position of a fact with the same id but different contents. */
  conflict: FeedPlace | undefined;
}

export class FactBook {
  readonly #retailers = new Map<string, Entry<RetailerFact>>();
  readonly #deals = new Map<string, Entry<DealFact>>();
  readonly #isPartnersOnly: boolean;
  readonly #partners = new Set<string>();

  /** `isPartnersOnly` leaves out retailers that are not partners, even if there are no partners. */
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

  /** Deals whose retailer is not in the list. */
  dealsWithout(retailers: readonly RetailerFacts[]): DealFact[] {
    const ids = new Set(retailers.map(({ fact }) => fact.advertiserId));
    return Array.from(this.#deals.values(), ({ fact }) => fact).filter((fact) => !ids.has(fact.advertiserId));
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
  const others = deals.map(({ fact }) => fact).filter((fact) => fact.isFallback !== true);
  const byKey = Map.groupBy(others, keyOf);
  return deals.filter(
    ({ fact }) => fact.isFallback !== true || !byKey.get(keyOf(fact))?.some((other) => overlaps(fact, other)),
  );
}

function keyOf(fact: DealFact): string {
  return fact.kind === 'coupon' ? `coupon ${fact.code}` : fact.kind;
}

function overlaps(a: DealFact, b: DealFact): boolean {
  return startsBeforeEnd(a, b) && startsBeforeEnd(b, a);
}

function startsBeforeEnd({ startDate }: DealFact, { endDate }: DealFact): boolean {
  return startDate === undefined || endDate === undefined || startDate < endDate;
}
