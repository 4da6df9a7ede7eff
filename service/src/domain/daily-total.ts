// Daily totals: the number and the amounts of transactions by organisation, day of sale (UTC), currency and status. Every
// write of transactions updates the totals in the same database transaction, so reading a total never requires a count.

import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Status } from '@offerbook/wire/transaction.ts';

/** The fields of a transaction that the totals are computed from. */
export interface Sale {
  readonly soldAt: Timestamp;
  readonly currencyCode: string;
  readonly status: Status;
  readonly orderValue: number;
  readonly cashback: number;
}

export interface DailyTotal {
  readonly orgId: number;
  /** `2026-11-14` */
  readonly day: string;
  readonly currency: string;
  readonly status: Status;
  readonly count: number;
  /** The amounts are decimal strings, because they may have more digits than a number can hold. */
  readonly orderValue: string;
  readonly cashback: string;
}

/** A stored total that differs from the counted one. If one of the two does not exist, it is undefined. */
export interface TotalDifference {
  readonly stored: DailyTotal | undefined;
  readonly counted: DailyTotal | undefined;
}

/** Called after each batch with the number of transactions counted so far. */
export type OnCounted = (transactions: number) => void;

/** Number of transactions of one day of sale. */
export interface DaySales {
  /** `2026-11-14` */
  readonly day: string;
  readonly count: number;
}

export interface DailyTotalStore {
  /** Counts the transactions of each day since this one (`2026-11-14`), from the totals. Omits days without any. */
  countDays(sinceDay: string): Promise<DaySales[]>;
  /** Reads all totals in order of organisation and day, in batches, from one snapshot. */
  read(onBatch: (batch: readonly DailyTotal[]) => void): Promise<void>;
  /** Counts all transactions and returns the totals that differ. Memory use grows with the number of totals. */
  verify(onCounted?: OnCounted): Promise<TotalDifference[]>;
  /** Counts all transactions and replaces the totals, in one transaction. Imports wait until the rebuild ends. */
  rebuild(onCounted?: OnCounted): Promise<void>;
}
