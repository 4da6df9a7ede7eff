// Rows of a network's file, and the description of a file that a reader needs.

import type { ParsedRow } from '@offerbook/wire/rows/raw-row.ts';
import type { RowLimits } from '@offerbook/wire/rows/row-limits.ts';

export type FeedFormat = 'JSON' | 'XML' | 'CSV';

/** Higher than the limits of imports: networks send rows of hundreds of kilobytes with many items. */
export const FEED_LIMITS: RowLimits = { bytes: 16 * 1024 * 1024, values: 1_000_000, names: 1_000, depth: 64 };

export interface FeedRow extends ParsedRow {
  readonly format: FeedFormat;
}

/** Where the rows are in a file, for each format that it may have. */
export interface FeedShape {
  /**
   * Paths of field names to the list of rows in a response: `data`, `publisherCommissions`, `records`. A bare list and one
   * row per line are always accepted.
   */
  readonly json?: readonly (readonly string[])[];
  readonly xml?: {
    /** Path of element names to a row: `cj-api`, `links`, `link`. */
    readonly row: readonly string[];
    /** Name of the element with an error message. */
    readonly errorElement?: string | undefined;
  };
  readonly csv?: {
    /** Required columns. */
    readonly columns: readonly string[];
    readonly separator?: string | undefined;
  };
  /** Reads the page information of a response, given its fields and its first row. */
  readonly explain?: ((answer: Record<string, unknown>) => PageNote) | undefined;
}

/** Page information of a response. Each network provides some of it. */
export interface PageNote {
  /** The network's error message, if the response is an error. */
  readonly error?: string | undefined;
  /** The request, if requests of one kind differ: for example by campaign. */
  readonly request?: string | undefined;
  /** Number of this page, from 0 or 1. */
  readonly page?: number | undefined;
  /** True if another page follows. */
  readonly hasMore?: boolean | undefined;
  /** Number of rows on this page. */
  readonly count?: number | undefined;
  /** Number of rows on all pages. */
  readonly total?: number | undefined;
  /** Numbers of the first and last row, if rows are numbered and pages are not. */
  readonly rows?: { readonly first: number | undefined; readonly last: number } | undefined;
}
