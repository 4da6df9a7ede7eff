// Validates retailers from the file against the schema, and checks that no id is used twice.

import { COPY_CANONICAL_DEAL, type Retailer, retailerRowSchema } from '@offerbook/wire/catalogue.ts';
import { DEAL_LISTS, type DealList, forEachDealList } from '@offerbook/wire/deals.ts';
import type { FieldProblem, RawRow, RowPosition } from '@offerbook/wire/rows/raw-row.ts';
import {
  type CheckedRow,
  PROBLEMS_MAX,
  printPlace,
  problemsOf,
  rejected,
} from '@offerbook/wire/rows/row-problem.ts';
import { UuidPlaces } from '@offerbook/wire/rows/uuid-places.ts';
import { LIST } from '@offerbook/wire/scalars.ts';
import { parseUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import { z } from 'zod';

const ANY_LIST = z.array(z.unknown(), LIST);

export class RetailerCheck {
  /** Positions of the retailers in the file: valid rows, and invalid rows with a readable id. */
  readonly retailers = new UuidPlaces();
  /** Positions of the deals in the file (valid rows only). */
  readonly deals = forEachDealList(() => new UuidPlaces());
  /** First invalid row without a readable id. */
  firstNamelessRow: RowPosition | undefined;
  readonly #invalidRetailers = new UuidPlaces();
  readonly #schema: ReturnType<typeof retailerRowSchema>;
  /** The row schema, except that the deal lists may contain anything. */
  readonly #ownFields: z.ZodType<Record<DealList, unknown[]>>;

  constructor(unknownFields: 'refuse' | 'ignore') {
    this.#schema = retailerRowSchema(unknownFields);
    this.#ownFields = this.#schema.extend(forEachDealList(() => ANY_LIST));
  }

  /** True if the file's only rows for the retailer are invalid. The stored retailer then stays unchanged. */
  hasOnlyInvalidRows(id: Uuid): boolean {
    return this.#invalidRetailers.has(id);
  }

  check(raw: RawRow): CheckedRow<Retailer> {
    const row = this.#checkFields(raw);
    if (row.value === undefined) {
      this.#noteInvalidRow(raw);
      return row;
    }
    const problems = this.#findDuplicates(row.value);
    if (problems.length > 0) {
      this.#noteInvalidRow(raw);
      return rejected(row.place, problems);
    }
    this.retailers.add(row.value.id, row.place);
    for (const list of DEAL_LISTS) for (const { id } of row.value[list]) this.deals[list].add(id, row.place);
    return row;
  }

  /**
   * Validates deal by deal and stops at PROBLEMS_MAX. Validating the whole row would collect every problem: 100,000 invalid
   * deals can have a million problems.
   */
  #checkFields(raw: RawRow): CheckedRow<Retailer> {
    const { place, value, problem } = raw;
    if (problem !== undefined) return rejected(place, [problem]);
    const own = this.#ownFields.safeParse(value);
    const problems = own.success ? [] : own.error.issues.flatMap((issue) => problemsOf(issue));
    const lists = new Map(DEAL_LISTS.map((list) => [list, this.#checkDeals(value, list, problems)]));
    if (!own.success || problems.length > 0) return rejected(place, problems);
    const retailer = { ...own.data, ...Object.fromEntries(lists) };
    return { place, value: retailer as unknown as Retailer, problems: undefined };
  }

  #checkDeals(row: unknown, list: DealList, problems: FieldProblem[]): unknown[] {
    const deals = (row as Partial<Record<DealList, unknown>> | null | undefined)?.[list];
    if (!Array.isArray(deals)) return [];
    const schema = this.#schema.shape[list].element;
    const copyCanonical = COPY_CANONICAL_DEAL[list];
    const checked: unknown[] = [];
    for (let index = 0; index < deals.length && problems.length < PROBLEMS_MAX; index++) {
      const canonical = copyCanonical(deals[index]);
      if (canonical !== undefined) {
        checked.push(canonical);
        continue;
      }
      const result = schema.safeParse(deals[index]);
      if (result.success) checked.push(result.data);
      else for (const issue of result.error.issues) problems.push(...problemsOf(issue, [list, index]));
    }
    return checked;
  }

  #noteInvalidRow({ place, value }: RawRow): void {
    const id = readId(value);
    if (id === undefined) this.firstNamelessRow ??= place;
    else if (this.retailers.add(id, place) === undefined) this.#invalidRetailers.add(id, place);
  }

  #findDuplicates(retailer: Retailer): FieldProblem[] {
    const problems: FieldProblem[] = [];
    const first = this.retailers.get(retailer.id);
    if (first !== undefined)
      problems.push({ field: 'id', reason: `was already used on ${printPlace(first)}` });
    for (const list of DEAL_LISTS) {
      const own = new Set<Uuid>();
      for (const [index, { id }] of retailer[list].entries()) {
        const place = this.deals[list].get(id);
        if (place === undefined && !own.has(id)) {
          own.add(id);
          continue;
        }
        const where = place === undefined ? 'in this row' : `on ${printPlace(place)}`;
        problems.push({ field: `${list}[${index}].id`, reason: `was already used ${where}` });
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
