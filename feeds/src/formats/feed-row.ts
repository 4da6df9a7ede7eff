// Rows of a network's files, and the file description that readers need.

import type { ParsedRow } from '@offerbook/wire/rows/raw-row.ts';
import type { RowLimits } from '@offerbook/wire/rows/row-limits.ts';
import type { Fields } from '../fields.ts';

export type FeedFormat = 'JSON' | 'XML' | 'CSV';

/** Higher than the import limits: a network's row with many items can be hundreds of kilobytes long. */
export const FEED_LIMITS: RowLimits = { bytes: 16 * 1024 * 1024, values: 1_000_000, names: 1_000, depth: 64 };

export interface FeedRow extends ParsedRow {
  readonly format: FeedFormat;
}

/** Location of the rows in a file, for each supported format. */
export interface FeedShape {
  /**
   * Paths to the list of rows in a response, such as `data`, `publisherCommissions`, `records`. A bare list and one row per
   * line are always accepted.
   */
  readonly json?: readonly (readonly string[])[];
  readonly xml?: XmlShape;
  readonly csv?: CsvShape;
  /** Default: FEED_LIMITS. */
  readonly limits?: RowLimits;
  /** Reads the page information of a response, given its fields and its first row. */
  readonly readPageInfo?: (response: Fields) => PageInfo;
}

export interface XmlShape {
  /** Path of element names to a row, such as `cj-api`, `links`, `link`. */
  readonly row: readonly string[];
  /** Name of the element with an error message. */
  readonly errorElement?: string;
}

export interface CsvShape {
  /** Required columns. */
  readonly columns: readonly string[];
  /** Default: a comma. */
  readonly separator?: string | undefined;
}

/** Page information of a response. Each network provides only some of these fields. */
export interface PageInfo {
  /** The network's error message, if the response is an error. */
  readonly error?: string | undefined;
  /** Distinguishes several requests for the same kind of row, for example by campaign. */
  readonly request?: string | undefined;
  /** Page number, from 0 or 1. */
  readonly page?: number | undefined;
  /** True if another page follows. */
  readonly hasMore?: boolean | undefined;
  /** Number of rows on this page. */
  readonly count?: number | undefined;
  /** Number of rows on all pages. If it changes during a walk, rows may have been missed. */
  readonly total?: number | undefined;
  /** Numbers of the first and last row, if the network numbers rows instead of pages. */
  readonly rows?: { readonly first: number | undefined; readonly last: number } | undefined;
}
