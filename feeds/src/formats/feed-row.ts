// What every file of a network is reduced to, and what a reader has to know to do it.

import type { RawRow } from '@offerbook/wire/rows/raw-row.ts';
import type { RowLimits } from '@offerbook/wire/rows/row-limits.ts';

export type FeedFormat = 'JSON' | 'XML' | 'CSV';

/** A file of a network may hold longer rows than an import: answers of hundreds of kilobytes with many items. */
export const FEED_LIMITS: RowLimits = { bytes: 16 * 1024 * 1024, values: 1_000_000, names: 1_000, depth: 64 };

export interface FeedRow extends Omit<RawRow, 'length'> {
  readonly format: FeedFormat;
}

/** Which rows a file holds, by the formats in which it may come. */
export interface FeedShape {
  /** Names of fields that lead to the list of rows in an answer: `data`, `publisherCommissions`, `records`. A list
   * without an envelope, and one row on each line, are read besides. */
  readonly json?: readonly (readonly string[])[];
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
  /** What an answer in JSON or XML says of itself. It has what it holds besides its rows, and the first of these. */
  readonly explain?: ((answer: Record<string, unknown>) => PageNote) | undefined;
}

/** An answer among those to one question. Networks tell some of this, each in its own words. */
export interface PageNote {
  /** Why there are no rows: the network's own words. */
  readonly error?: string | undefined;
  /** What was asked for, where questions of one kind differ: the deals of which campaign. */
  readonly question?: string | undefined;
  /** The number of this page, if pages are numbered: from 1, or from 0. */
  readonly page?: number | undefined;
  /** Whether another page follows. */
  readonly hasMore?: boolean | undefined;
  /** How many rows this page has, and how many all pages have. */
  readonly count?: number | undefined;
  readonly total?: number | undefined;
  /** Where rows have numbers that rise, and pages none: those of the first row here and of the last one. */
  readonly rows?: { readonly first: number | undefined; readonly last: number } | undefined;
}
