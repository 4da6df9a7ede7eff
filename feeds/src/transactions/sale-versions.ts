// Chooses one version of each sale, since files may overlap. A decided version wins over a pending one, then the newer
// version wins. The order of rows and files makes no difference. Keeps only some numbers per sale, for millions of sales; the
// rows are in the spool.

import { printJson } from '@offerbook/wire/decimal.ts';
import { UuidPlaces } from '@offerbook/wire/rows/uuid-places.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { RowSpool } from '../convert-report.ts';
import type { FeedPlace } from '../convert-run.ts';
import type { ConvertedRow } from './to-transaction.ts';

export interface SaleVersion {
  readonly row: ConvertedRow;
  /** The greater version is newer; 0 if unknown. */
  readonly version: number;
  readonly lacksCoupon: boolean;
  readonly place: FeedPlace;
  /** The network's id, for messages. */
  readonly id: string;
}

export interface VersionOutcome {
  /** Conflicting versions that cannot be ordered. */
  readonly conflicts: readonly SaleVersion[];
  /** Decided sales that are pending in a newer version. */
  readonly reopened: number;
  /** Declined sales without an amount in any version. */
  readonly withoutAmounts: number;
  /** Sales whose coupon was not found. */
  readonly withoutCoupon: number;
}

/** Decided ranks above pending, then newer above older. */
function rankOf({ row, version }: SaleVersion): number {
  return row.status === 'PENDING' ? version : version + DECIDED;
}

/** Above any time in milliseconds, and small enough for exact sums. */
const DECIDED = 2 ** 50;

export class SaleVersions {
  readonly #spool: RowSpool;
  /** Number of each sale, in reading order (stored as a line). */
  readonly #numbers = new UuidPlaces();
  readonly #ranks: number[] = [];
  readonly #hashes: number[] = [];
  readonly #lines: number[] = [];
  readonly #orderValues: number[] = [];
  readonly #cashbacks: number[] = [];
  readonly #offerIds: (Uuid | null)[] = [];
  /** By number of the sale; rare. */
  readonly #conflicts = new Map<number, SaleVersion>();
  readonly #newestPending = new Map<number, number>();
  readonly #lackingCoupon = new Set<number>();
  /** Declined sales without an amount; another version may have it. */
  readonly #hollow = new Map<string, SaleVersion>();
  /** Versions of these sales that conflict with the chosen one. */
  readonly #hollowConflicts = new Map<string, SaleVersion>();

  constructor(spool: RowSpool) {
    this.#spool = spool;
  }

  add(version: SaleVersion): void {
    if (isHollow(version.row)) this.#addHollow(version);
    else this.#addWhole(version);
  }

  /** Writes the sales that were waiting for other versions. */
  finish(): VersionOutcome {
    let withoutAmounts = 0;
    const conflicts: SaleVersion[] = [];
    for (const [id, version] of this.#hollow) {
      const conflict = this.#hollowConflicts.get(id);
      const known = this.#numbers.get(version.row.id)?.line;
      if (known === undefined) {
        if (conflict !== undefined) conflicts.push(conflict);
        else {
          withoutAmounts += version.row.orderValue === 0 && version.row.cashback === 0 ? 1 : 0;
          this.#addWhole(version);
        }
      } else if (rankOf(version) >= (this.#ranks[known] ?? 0)) {
        if (conflict !== undefined) this.#conflicts.set(known, conflict);
        else if (!this.#conflicts.has(known)) this.#addWhole(this.#filled(version, known));
      }
    }
    const reopened = [...this.#newestPending].filter(
      ([number, version]) => version + DECIDED > (this.#ranks[number] ?? 0),
    ).length;
    for (const number of this.#conflicts.keys()) {
      this.#spool.drop(this.#lines[number] ?? 0);
      this.#lackingCoupon.delete(number);
    }
    conflicts.push(...this.#conflicts.values());
    return { conflicts, reopened, withoutAmounts, withoutCoupon: this.#lackingCoupon.size };
  }

  #addHollow(version: SaleVersion): void {
    const { id } = version.row;
    const before = this.#hollow.get(id);
    if (before === undefined || rankOf(before) < rankOf(version)) {
      this.#hollow.set(id, version);
      this.#hollowConflicts.delete(id);
    } else if (rankOf(before) === rankOf(version) && !Bun.deepEquals(before.row, version.row)) {
      this.#hollowConflicts.set(id, version);
    }
  }

  #addWhole(version: SaleVersion): void {
    const text = printJson(version.row);
    const rank = rankOf(version);
    const number = this.#ranks.length;
    const known = this.#numbers.add(version.row.id, { line: number })?.line;
    if (known === undefined) this.#keep(number, version, rank, text);
    else this.#choose(known, version, rank, text);
  }

  #choose(number: number, version: SaleVersion, rank: number, text: string): void {
    const before = this.#ranks[number] ?? 0;
    // Either version may be the decided one.
    const pending = Math.min(before, rank);
    if (pending < DECIDED && Math.max(before, rank) >= DECIDED) {
      this.#newestPending.set(number, Math.max(pending, this.#newestPending.get(number) ?? 0));
    }
    if (rank > before) {
      this.#conflicts.delete(number);
      this.#spool.drop(this.#lines[number] ?? 0);
      this.#keep(number, version, rank, text);
    } else if (rank === before && hash(text) !== this.#hashes[number]) this.#conflicts.set(number, version);
  }

  #keep(number: number, { row, lacksCoupon }: SaleVersion, rank: number, text: string): void {
    this.#ranks[number] = rank;
    this.#hashes[number] = hash(text);
    this.#lines[number] = this.#spool.append(text);
    this.#orderValues[number] = row.orderValue;
    this.#cashbacks[number] = row.cashback;
    this.#offerIds[number] = 'cashbackOfferId' in row ? row.cashbackOfferId : null;
    if (lacksCoupon) this.#lackingCoupon.add(number);
    else this.#lackingCoupon.delete(number);
  }

  /** Completes a declined version with the amounts and the offer of another version. */
  #filled(version: SaleVersion, number: number): SaleVersion {
    const orderValue = version.row.orderValue || (this.#orderValues[number] ?? 0);
    const cashback = version.row.cashback || (this.#cashbacks[number] ?? 0);
    const row = { ...version.row, orderValue, cashback };
    if ('cashbackOfferId' in row) row.cashbackOfferId ??= this.#offerIds[number] ?? null;
    return { ...version, row };
  }
}

/** True if a declined sale may have lost an amount. */
function isHollow({ status, orderValue, cashback }: ConvertedRow): boolean {
  return status === 'DECLINED' && (orderValue === 0 || cashback === 0);
}

function hash(text: string): number {
  return Bun.hash.xxHash32(text);
}
