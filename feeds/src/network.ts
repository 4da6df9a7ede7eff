// Interface of an affiliate network: the structure of its files, how rows become sales and catalogue facts, and the requests that
// fetch them. Implementations are pure: they do not send requests, read files or the clock, or keep state between rows.

import type { Amount } from '@offerbook/wire/amount.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Status } from '@offerbook/wire/transaction.ts';
import type { RowFacts } from './catalogue/facts.ts';
import type { Fields } from './fields.ts';
import type { FeedFormat, FeedShape } from './formats/feed-row.ts';
import type { CataloguePull, SalePull } from './pull/network-pull.ts';
import type { NetworkName, SourceOf } from './source/source-file.ts';

export interface AffiliateNetwork<Name extends NetworkName> {
  /** `nowMs` determines the age of sales, for networks that never confirm them. */
  openFeeds(source: SourceOf<Name>, nowMs: number): NetworkFeeds;
  /** Absent if the network has no supported API. */
  pullSales?(source: SourceOf<Name>): SalePull;
  /** Returns undefined if the source file lacks a setting for it. */
  pullCatalogue?(source: SourceOf<Name>): CataloguePull | undefined;
}

export interface NetworkFeeds {
  /** Undefined if a table source does not map transactions. */
  readonly transactions: SaleFeed | undefined;
  /** Catalogue feeds, keyed by command-line option, such as `commission-groups`. */
  readonly catalogue: Readonly<Record<string, CatalogueFeed>>;
}

/** A sale with the network's ids, and with the full commission before the share is applied. */
export interface Sale {
  readonly id: string;
  readonly advertiserId: string;
  readonly status: Status;
  readonly country: string | undefined;
  readonly clickedAt: Timestamp | undefined;
  readonly soldAt: Timestamp;
  readonly currency: string;
  readonly orderValue: Amount;
  /** Has several entries if parts of the sale belong to groups with different shares. */
  readonly commissions: readonly Commission[];
  readonly subId: string | undefined;
  readonly subData?: string | undefined;
  readonly offerId?: string | undefined;
  readonly couponCode?: string | undefined;
  /** Orders the versions of a sale: a greater value is newer. Default: the time of `changedAt` in milliseconds. */
  readonly version?: number | undefined;
  /** When the network last changed the sale, if known. The import skips older versions. */
  readonly changedAt?: Timestamp | undefined;
}

export interface Commission {
  readonly amount: Amount;
  readonly group?: string | undefined;
}

export type SaleFeed = WholeSaleFeed | PartedSaleFeed;

/** A feed with one row per sale. */
export interface WholeSaleFeed {
  readonly shape: FeedShape;
  readonly readSale: (row: Fields, format: FeedFormat) => Sale;
  /** A note shown in the report for CSV files, which may lack data. */
  readonly csvNote?: string;
}

/** A feed with several rows per sale, which must be joined first. */
export interface PartedSaleFeed<Part extends SalePart = SalePart> {
  readonly shape: FeedShape;
  readPart(row: Fields): Part | LeftOutRow;
  /** Joins the parts of a sale. Reports contradictory parts as problems in `group`. */
  joinParts(parts: readonly [Part, ...Part[]], group: Fields): Sale;
  /**
   * Returns why a sale cannot be computed from these parts, if it was made before the first pull. Such a sale is left out. In
   * files, it is a problem, because a file is probably missing.
   */
  findLack?(parts: readonly Part[]): string | undefined;
  /** Returns a message if parts from different files cannot be converted together. */
  findConflict?(parts: Iterable<Part>): string | undefined;
}

/** A row that is not part of a sale, with its category for the report. */
export interface LeftOutRow {
  readonly leftOut: string;
}

export interface SalePart {
  readonly saleId: string;
  /** The network's id for the row. Rows with the same id count once. */
  readonly partId: string;
  /** Orders the versions of a row: a greater value is newer. */
  readonly version: number;
  readonly soldAt: Timestamp;
}

export interface CatalogueFeed {
  readonly shape: FeedShape;
  /** Set if files are given as ID=FILE, because they do not contain the advertiser's id. */
  readonly advertiser?: 'needed' | 'optional';
  /** True if the feed lists the retailers that the publisher works with. */
  readonly listsPartners?: boolean;
  readonly readFacts: (row: Fields, advertiserId: string | undefined, format: FeedFormat) => RowFacts;
}
