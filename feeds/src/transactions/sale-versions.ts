// Chooses one version of each sale, since files can overlap. A decided version takes precedence over a pending one; otherwise,
// the newest version does. The order of rows and files does not matter. To handle millions of sales, only a few numbers per
// sale are kept in memory; the rows are in the spool.

import { printJson } from '@offerbook/wire/decimal.ts';
import { UuidPlaces } from '@offerbook/wire/rows/uuid-places.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { FeedPlace, RowSpool } from '../convert-run.ts';
import type { ConvertedRow } from './to-transaction.ts';

interface SaleVersion {
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

export type SaleVersions = ReturnType<typeof saleVersions>;

/** `laterWins`: among versions that cannot be ordered, the one that was added last is the newest. */
export function saleVersions(spool: RowSpool, laterWins: boolean) {
  /** Sequence number of each sale, in reading order. UuidPlaces stores it as the `line`. */
  const numbers = new UuidPlaces();
  // The chosen version of each sale, by sale number.
  const ranks: number[] = [];
  const hashes: number[] = [];
  const lines: number[] = [];
  const orderValues: number[] = [];
  const cashbacks: number[] = [];
  const offerIds: (Uuid | null)[] = [];
  const newestPending = new Map<number, number>();
  const lackingCoupon = new Set<number>();
  const conflicts = new Map<Uuid, SaleVersion>();
  /** The newest version of each declined sale that has no amount. Another version may have the amount. */
  const emptied = new Map<Uuid, { readonly version: SaleVersion; conflict: SaleVersion | undefined }>();

  function isNewer(rank: number, before: number): boolean {
    return rank > before || (rank === before && laterWins);
  }

  function choose(version: SaleVersion): void {
    const { id } = version.row;
    const text = printJson(version.row);
    const rank = rankOf(version);
    const number = numbers.add(id, { line: ranks.length })?.line;
    if (number === undefined) {
      keep(ranks.length, version, text);
      return;
    }
    const before = ranks[number] ?? 0;
    // Either version can be the one that was confirmed or declined.
    const pending = Math.min(before, rank);
    if (pending < DECIDED && Math.max(before, rank) >= DECIDED)
      newestPending.set(number, Math.max(pending, newestPending.get(number) ?? 0));
    if (isNewer(rank, before)) {
      conflicts.delete(id);
      spool.drop(lines[number] ?? 0);
      keep(number, version, text);
    } else if (rank === before && hash(text) !== hashes[number]) conflicts.set(id, version);
  }

  function keep(number: number, version: SaleVersion, text: string): void {
    const { row, lacksCoupon } = version;
    ranks[number] = rankOf(version);
    hashes[number] = hash(text);
    lines[number] = spool.append(text);
    orderValues[number] = row.orderValue;
    cashbacks[number] = row.cashback;
    offerIds[number] = 'cashbackOfferId' in row ? row.cashbackOfferId : null;
    if (lacksCoupon) lackingCoupon.add(number);
    else lackingCoupon.delete(number);
  }

  /** Completes a declined version with the amounts and the offer of another version. */
  function filled(version: SaleVersion, number: number): SaleVersion {
    const orderValue = version.row.orderValue || (orderValues[number] ?? 0);
    const cashback = version.row.cashback || (cashbacks[number] ?? 0);
    const row = { ...version.row, orderValue, cashback };
    if ('cashbackOfferId' in row) row.cashbackOfferId ??= offerIds[number] ?? null;
    return { ...version, row };
  }

  return {
    add(version: SaleVersion): void {
      const { id, status, orderValue, cashback } = version.row;
      if (status !== 'DECLINED' || (orderValue !== 0 && cashback !== 0)) {
        choose(version);
        return;
      }
      const before = emptied.get(id);
      if (before === undefined || isNewer(rankOf(version), rankOf(before.version)))
        emptied.set(id, { version, conflict: undefined });
      else if (rankOf(before.version) === rankOf(version) && !Bun.deepEquals(before.version.row, version.row))
        before.conflict = version;
    },

    /** Writes the sales that were waiting for other versions. Returns conflicting versions, and counts for the report. */
    finish() {
      let withoutAmounts = 0;
      for (const [id, { version, conflict }] of emptied) {
        const number = numbers.get(id)?.line;
        if (number !== undefined && rankOf(version) < (ranks[number] ?? 0)) continue;
        if (conflict !== undefined) conflicts.set(id, conflict);
        else if (number === undefined) {
          if (version.row.orderValue === 0 && version.row.cashback === 0) withoutAmounts++;
          choose(version);
        } else if (!conflicts.has(id)) choose(filled(version, number));
      }
      const reopened = [...newestPending].filter(
        ([number, version]) => version + DECIDED > (ranks[number] ?? 0),
      ).length;
      for (const id of conflicts.keys()) {
        const number = numbers.get(id)?.line;
        if (number === undefined) continue;
        spool.drop(lines[number] ?? 0);
        lackingCoupon.delete(number);
      }
      return {
        conflicts: conflicts.values(),
        reopened,
        withoutAmounts,
        withoutCoupon: lackingCoupon.size,
      };
    },
  };
}

function hash(text: string): number {
  return Bun.hash.xxHash32(text);
}
