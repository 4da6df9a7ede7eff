// Chooses one version of each sale, since files can overlap. A decided version takes precedence over a pending one; otherwise,
// the newest version does. The order of rows and files does not matter. To handle millions of sales, only a few numbers per
// sale are kept in memory; the rows are in the spool.

import { printJson } from '@offerbook/wire/decimal.ts';
import { UuidPlaces } from '@offerbook/wire/rows/uuid-places.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { FeedPlace, RowSpool } from '../convert-run.ts';
import type { ConvertedRow } from './to-transaction.ts';

export interface SaleVersion {
  readonly row: ConvertedRow;
  /** A greater value is newer; 0 if unknown. */
  readonly version: number;
  readonly lacksCoupon: boolean;
  readonly place: FeedPlace;
  /** The network's id, for messages. */
  readonly id: string;
}

/** Added to the rank of decided versions. Greater than any time in milliseconds, and small enough for exact sums. */
const DECIDED = 2 ** 50;

function rankOf({ row, version }: SaleVersion): number {
  return row.status === 'PENDING' ? version : version + DECIDED;
}

export class SaleVersions {
  readonly #spool: RowSpool;
  /** Sequence number of each sale, in reading order. UuidPlaces stores it as the `line`. */
  readonly #numbers = new UuidPlaces();
  // The chosen version of each sale, by sale number.
  readonly #ranks: number[] = [];
  readonly #hashes: number[] = [];
  readonly #lines: number[] = [];
  readonly #orderValues: number[] = [];
  readonly #cashbacks: number[] = [];
  readonly #offerIds: (Uuid | null)[] = [];
  readonly #newestPending = new Map<number, number>();
  readonly #lackingCoupon = new Set<number>();
  readonly #conflicts = new Map<Uuid, SaleVersion>();
  /** The newest version of each declined sale that has no amount. Another version may have the amount. */
  readonly #emptied = new Map<Uuid, { readonly version: SaleVersion; conflict: SaleVersion | undefined }>();

  readonly #laterWins: boolean;

  /** `laterWins`: among versions that cannot be ordered, the one that was added last is the newest. */
  constructor(spool: RowSpool, laterWins = false) {
    this.#spool = spool;
    this.#laterWins = laterWins;
  }

  add(version: SaleVersion): void {
    const { id, status, orderValue, cashback } = version.row;
    if (status !== 'DECLINED' || (orderValue !== 0 && cashback !== 0)) {
      this.#choose(version);
      return;
    }
    const before = this.#emptied.get(id);
    if (before === undefined || this.#isNewer(rankOf(version), rankOf(before.version))) {
      this.#emptied.set(id, { version, conflict: undefined });
    } else if (
      rankOf(before.version) === rankOf(version) &&
      !Bun.deepEquals(before.version.row, version.row)
    ) {
      before.conflict = version;
    }
  }

  /** Writes the sales that were waiting for other versions. Returns conflicting versions, and counts for the report. */
  finish() {
    let withoutAmounts = 0;
    for (const [id, { version, conflict }] of this.#emptied) {
      const number = this.#numbers.get(id)?.line;
      if (number !== undefined && rankOf(version) < (this.#ranks[number] ?? 0)) continue;
      if (conflict !== undefined) this.#conflicts.set(id, conflict);
      else if (number === undefined) {
        if (version.row.orderValue === 0 && version.row.cashback === 0) withoutAmounts++;
        this.#choose(version);
      } else if (!this.#conflicts.has(id)) this.#choose(this.#filled(version, number));
    }
    const reopened = [...this.#newestPending].filter(
      ([number, version]) => version + DECIDED > (this.#ranks[number] ?? 0),
    ).length;
    for (const id of this.#conflicts.keys()) {
      const number = this.#numbers.get(id)?.line;
      if (number === undefined) continue;
      this.#spool.drop(this.#lines[number] ?? 0);
      this.#lackingCoupon.delete(number);
    }
    const conflicts = this.#conflicts.values();
    return { conflicts, reopened, withoutAmounts, withoutCoupon: this.#lackingCoupon.size };
  }

  #choose(version: SaleVersion): void {
    const { id } = version.row;
    const text = printJson(version.row);
    const rank = rankOf(version);
    const number = this.#numbers.add(id, { line: this.#ranks.length })?.line;
    if (number === undefined) {
      this.#keep(this.#ranks.length, version, text);
      return;
    }
    const before = this.#ranks[number] ?? 0;
    // Either version can be the one that was confirmed or declined.
    const pending = Math.min(before, rank);
    if (pending < DECIDED && Math.max(before, rank) >= DECIDED) {
      this.#newestPending.set(number, Math.max(pending, this.#newestPending.get(number) ?? 0));
    }
    if (this.#isNewer(rank, before)) {
      this.#conflicts.delete(id);
      this.#spool.drop(this.#lines[number] ?? 0);
      this.#keep(number, version, text);
    } else if (rank === before && hash(text) !== this.#hashes[number]) this.#conflicts.set(id, version);
  }

  #isNewer(rank: number, before: number): boolean {
    return rank > before || (rank === before && this.#laterWins);
  }

  #keep(number: number, version: SaleVersion, text: string): void {
    const { row, lacksCoupon } = version;
    this.#ranks[number] = rankOf(version);
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

function hash(text: string): number {
  return Bun.hash.xxHash32(text);
}
