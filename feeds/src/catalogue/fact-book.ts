// Collects facts by advertiser. A repeated fact counts once. Invalid facts and facts that contradict each other are reported as
// problems and ignored.

import type { ConvertRun, FeedPlace } from '../convert-run.ts';
import { Fields } from '../fields.ts';
import type { FeedRow } from '../formats/feed-row.ts';
import type { CatalogueFeed } from '../network.ts';
import { type DealFact, idOf, type PartnershipFact, type RetailerFact } from './facts.ts';

export type FactBook = ReturnType<typeof factBook>;
export type RetailerFacts = ReturnType<FactBook['retailers']>[number];

/** A fact and the position where it was first read. */
interface Entry<Fact> {
  readonly fact: Fact;
  readonly place: FeedPlace;
  /** Position of a fact with the same id but different contents. */
  conflict: FeedPlace | undefined;
}

/** If one of the feeds lists partnerships, retailers that are not partners are left out, even if there are no partners. */
export function factBook(run: ConvertRun, zone: string, feeds: readonly CatalogueFeed[]) {
  const isPartnersOnly = feeds.some(({ listsPartners }) => listsPartners === true);
  const retailers = new Map<string, Entry<RetailerFact>>();
  const deals = new Map<string, Entry<DealFact>>();
  const partners = new Set<string>();

  function add(fact: RetailerFact | DealFact | PartnershipFact, place: FeedPlace): void {
    if (fact.kind === 'partnership') partners.add(fact.advertiserId);
    else if (fact.kind === 'retailer') note(retailers, fact.advertiserId, fact, place);
    else note(deals, `${fact.kind} ${fact.id}`, fact, place);
  }

  return {
    /** Adds the facts of a row. If `advertiserId` is given, the row must belong to this advertiser. */
    addRow(row: FeedRow, feed: CatalogueFeed, advertiserId: string | undefined, file: string): void {
      const place: FeedPlace = { ...row.place, file };
      if (row.problem !== undefined) {
        run.reject(place, undefined, [row.problem]);
        return;
      }
      const fields = new Fields(row.value, zone);
      const found = [feed.readFacts(fields, advertiserId, row.format)].flat();
      const isOther = found.some((fact) => 'advertiserId' in fact && fact.advertiserId !== advertiserId);
      if (advertiserId !== undefined && isOther)
        fields.fail('', `belongs to another advertiser; only rows of ${advertiserId} were requested`);
      if (fields.problems.length > 0) {
        const partProblems = found.flatMap((fact) => (fact.kind === 'invalid' ? fact.problems : []));
        run.reject(place, idOf(found[0]), [...fields.problems, ...partProblems]);
        return;
      }
      for (const fact of found) {
        if (fact.kind === 'left out') run.leaveOut(fact.what);
        else if (fact.kind === 'invalid') run.reject(place, fact.id, fact.problems);
        else add(fact, place);
      }
    },

    /** Call this once, after all rows have been added. */
    rejectConflicts(): void {
      for (const { fact, conflict } of [...retailers.values(), ...deals.values()]) {
        const problem = { field: '', reason: 'appears twice with different contents' };
        if (conflict !== undefined) run.reject(conflict, idOf(fact), [problem]);
      }
    },

    /** Retailers that are partners, with their deals. */
    retailers() {
      const dealsOf = Map.groupBy(agreed(deals), ({ fact }) => fact.advertiserId);
      return agreed(retailers)
        .filter(({ fact }) => !isPartnersOnly || partners.has(fact.advertiserId))
        .map(({ fact, place }) => ({
          fact,
          place,
          deals: withoutFallbacks(dealsOf.get(fact.advertiserId) ?? []),
        }));
    },

    /** Deals whose retailer is not in the list. */
    dealsWithout(listed: readonly { readonly fact: RetailerFact }[]): DealFact[] {
      const ids = new Set(listed.map(({ fact }) => fact.advertiserId));
      return Array.from(deals.values(), ({ fact }) => fact).filter((fact) => !ids.has(fact.advertiserId));
    },
  };
}

function note<Fact>(facts: Map<string, Entry<Fact>>, key: string, fact: Fact, place: FeedPlace): void {
  const before = facts.get(key);
  if (before === undefined) facts.set(key, { fact, place, conflict: undefined });
  else if (!Bun.deepEquals(before.fact, fact)) before.conflict = place;
}

function agreed<Fact>(facts: ReadonlyMap<string, Entry<Fact>>): Entry<Fact>[] {
  return [...facts.values()].filter(({ conflict }) => conflict === undefined);
}

function withoutFallbacks(deals: readonly Entry<DealFact>[]): readonly Entry<DealFact>[] {
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
