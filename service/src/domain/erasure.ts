// Erasure of an organisation's users.

import type { Organisation } from './organisation.ts';

/** Number of a user's records. */
export interface ErasureCounts {
  readonly transactions: number;
  /** Earlier versions of transactions. */
  readonly versions: number;
  readonly clicks: number;
}

export interface ErasureStore {
  /** Counts what an erasure would change. Reads all of the organisation's data. */
  count(orgId: number, passbackUid: string): Promise<ErasureCounts>;
  /**
   * Removes `passbackUid` and `passbackData` from a user's transactions (including their history) and clicks, in batches.
   * Transactions get a new stamp; walks in progress continue without the two fields. Later imports cannot restore these fields
   * (see `erasedAtMs`). Repeat an interrupted erasure to complete it.
   */
  erase(org: Organisation, passbackUid: string, onBatch?: (count: number) => void): Promise<ErasureCounts>;
}
