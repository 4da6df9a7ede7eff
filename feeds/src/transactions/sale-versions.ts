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

/** The chosen version of a sale. Its row is in the spool. */
interface ChosenSale {
  readonly rank: number;
  readonly hash: number;
  /** Number of the row in the spool. */
  readonly line: number;
  readonly orderValue: number;
  readonly cashback: number;
  readonly offerId: Uuid | null;
  lacksCoupon: boolean;
  /** Version of the newest pending version. */
  newestPending: number;
}

export type SaleVersions = ReturnType<typeof saleVersions>;

/** `laterWins`: among versions that cannot be ordered, the one that was added last is the newest. */
export function saleVersions(spool: RowSpool, laterWins: boolean) {
  const sales: ChosenSale[] = [];
  /** The place of each sale in `sales`. UuidPlaces stores it as the `line`. */
  const places = new UuidPlaces();
  const conflicts = new Map<Uuid, SaleVersion>();
  /** The newest version of each declined sale that has no amount. Another version may have the amount. */
  const emptied = new Map<Uuid, { readonly version: SaleVersion; conflict: SaleVersion | undefined }>();

  function find(id: Uuid): ChosenSale | undefined {
    const place = places.get(id);
    return place && sales[place.line];
  }

  function isNewer(rank: number, before: number): boolean {
    return rank > before || (rank === before && laterWins);
  }

  function choose(version: SaleVersion): void {
    const { row, lacksCoupon } = version;
    const text = printJson(row);
    const [rank, hash] = [rankOf(version), Bun.hash.xxHash32(text)];
    const place = places.add(row.id, { line: sales.length })?.line ?? sales.length;
    const before = sales[place];
    const newestPending = Math.max(
      before?.newestPending ?? Number.NEGATIVE_INFINITY,
      row.status === 'PENDING' ? version.version : Number.NEGATIVE_INFINITY,
    );
    if (before !== undefined && !isNewer(rank, before.rank)) {
      before.newestPending = newestPending;
      if (rank === before.rank && hash !== before.hash) conflicts.set(row.id, version);
      return;
    }
    if (before !== undefined) spool.drop(before.line);
    conflicts.delete(row.id);
    const { orderValue, cashback } = row;
    const offerId = 'cashbackOfferId' in row ? row.cashbackOfferId : null;
    const line = spool.append(text);
    sales[place] = { rank, hash, line, orderValue, cashback, offerId, lacksCoupon, newestPending };
  }

  /** Completes a declined version with the amounts and the offer of another version. */
  function filled(version: SaleVersion, other: ChosenSale): SaleVersion {
    const orderValue = version.row.orderValue || other.orderValue;
    const cashback = version.row.cashback || other.cashback;
    const row = { ...version.row, orderValue, cashback };
    if ('cashbackOfferId' in row) row.cashbackOfferId ??= other.offerId;
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
        const other = find(id);
        if (other !== undefined && rankOf(version) < other.rank) continue;
        if (conflict !== undefined) conflicts.set(id, conflict);
        else if (other === undefined) {
          if (version.row.orderValue === 0 && version.row.cashback === 0) withoutAmounts++;
          choose(version);
        } else if (!conflicts.has(id)) choose(filled(version, other));
      }
      for (const id of conflicts.keys()) {
        const sale = find(id);
        if (sale === undefined) continue;
        spool.drop(sale.line);
        sale.lacksCoupon = false;
      }
      const reopened = sales.filter(({ rank, newestPending }) => {
        return rank >= DECIDED && newestPending + DECIDED > rank;
      }).length;
      const withoutCoupon = sales.filter(({ lacksCoupon }) => lacksCoupon).length;
      return { conflicts: conflicts.values(), reopened, withoutAmounts, withoutCoupon };
    },
  };
}
