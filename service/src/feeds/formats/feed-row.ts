// What every file of a network is reduced to, and what a reader has to know to do it.

import type { RawRow } from '../../importer/formats/raw-row.ts';
import type { RowLimits } from '../../importer/formats/row-limits.ts';

export type FeedFormat = 'JSON' | 'XML' | 'CSV';

/** A file of a network may hold longer rows than an import: answers of hundreds of kilobytes with many items. */
export const FEED_LIMITS: RowLimits = { bytes: 16 * 1024 * 1024, values: 1_000_000, names: 1_000, depth: 64 };

export interface FeedRow extends Omit<RawRow, 'length'> {
  readonly format: FeedFormat;
}

/** Which rows a file holds, by the formats in which it may come. */
export interface FeedShape {
  readonly json?: {
    /** Names of fields that lead to the list of rows in an answer: `data`, `publisherCommissions`, `records`. A list
     * without an envelope, and one row on each line, are read besides. */
    readonly lists: readonly (readonly string[])[];
    /** What an answer says besides its rows. */
    readonly explain?: ((answer: Record<string, unknown>) => PageNote) | undefined;
  };
  readonly xml?: {
    /** Names of elements that lead to a row: `cj-api`, `links`, `link`. */
    readonly row: readonly string[];
    /** Of an element that tells what went wrong. */
    readonly errorElement?: string | undefined;
  };
  readonly csv?: {
    /** Columns without which it is another file. */
    readonly columns: readonly string[];
    readonly separator?: string | undefined;
  };
}

export interface PageNote {
  /** Why there are no rows: the network's own words. */
  readonly error?: string | undefined;
  /** The number of this page, from 1, if pages are numbered. */
  readonly page?: number | undefined;
  /** Whether the network has more than this page. */
  readonly hasMore?: boolean | undefined;
}
