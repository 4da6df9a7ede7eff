// Checks retailers as they come out of the file: the schema, and that no id of a kind stands there twice.

import { type Retailer, retailerSchema } from '../../domain/catalogue.ts';
import { DEAL_LISTS, type DealList } from '../../domain/deals.ts';
import { parseUuid, type Uuid } from '../../domain/uuid.ts';
import type { FieldProblem, Place, RawRow } from '../formats/raw-row.ts';
import { type CheckedRow, checkRow, printPlace, rejected } from './row-problem.ts';
import { UuidPlaces } from './uuid-places.ts';

export class RetailerCheck {
  /** Where the file speaks of a retailer, in a good row or in a bad one whose id could be read. */
  readonly retailers = new UuidPlaces();
  /** Where the file lists a deal, good rows only. */
  readonly deals: Record<DealList, UuidPlaces> = {
    cashbackOffers: new UuidPlaces(),
    coupons: new UuidPlaces(),
    promotions: new UuidPlaces(),
  };
  /** The first bad row of which nobody can tell which retailer it was meant for. */
  firstNamelessRow: Place | undefined;
  readonly #badRetailers = new UuidPlaces();
  readonly #schema: ReturnType<typeof retailerSchema>;

  constructor(unknownFields: 'refuse' | 'ignore') {
    this.#schema = retailerSchema(unknownFields);
  }

  /** Whether all that the file says of a retailer is a bad row, so that the retailer stays as it was. */
  hasBadRow(id: Uuid): boolean {
    return this.#badRetailers.has(id);
  }

  check(raw: RawRow): CheckedRow<Retailer> {
    const row = checkRow<Retailer>(raw, this.#schema);
    if (row.value === undefined) {
      this.#noteBadRow(raw);
      return row;
    }
    const problems = this.#findDuplicates(row.value);
    if (problems.length > 0) {
      // It has been spoken of all the same: it stays as it was, and is not withdrawn.
      this.#noteBadRow(raw);
      return rejected(row.place, problems);
    }
    this.retailers.add(row.value.id, row.place);
    for (const list of DEAL_LISTS) for (const { id } of row.value[list]) this.deals[list].add(id, row.place);
    return row;
  }

  #noteBadRow({ place, value }: RawRow): void {
    const id = readId(value);
    if (id === undefined) this.firstNamelessRow ??= place;
    // Of several rows for a retailer, the first counts.
    else if (this.retailers.add(id, place) === undefined) this.#badRetailers.add(id, place);
  }

  #findDuplicates(retailer: Retailer): FieldProblem[] {
    const problems: FieldProblem[] = [];
    const first = this.retailers.get(retailer.id);
    if (first !== undefined)
      problems.push({ field: 'id', reason: `was already used on ${printPlace(first)}` });
    for (const list of DEAL_LISTS) {
      const own = new Set<Uuid>();
      for (const [index, { id }] of retailer[list].entries()) {
        const field = `${list}[${index}].id`;
        const place = this.deals[list].get(id);
        if (place !== undefined) problems.push({ field, reason: `was already used on ${printPlace(place)}` });
        else if (own.has(id)) problems.push({ field, reason: 'was already used in this row' });
        own.add(id);
      }
    }
    return problems;
  }
}

function readId(value: unknown): Uuid | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'id')) return undefined;
  const { id } = value as { id: unknown };
  return typeof id === 'string' ? parseUuid(id) : undefined;
}
