// Interface of a network: the structure of its files, and how rows become sales and catalogue facts. A network is created
// from a source file. It is pure: it reads no files and no clock, and keeps no state between rows.

import type { Amount } from '@offerbook/wire/amount.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Status } from '@offerbook/wire/transaction.ts';
import type { CatalogueFact } from './catalogue/facts.ts';
import type { Fields } from './fields.ts';
import type { FeedFormat, FeedShape } from './formats/feed-row.ts';

export interface Network {
  /** Undefined if the source file describes no transactions. */
  readonly transactions: SaleFeed | undefined;
  /** The files of a catalogue, by the name of their option: `commission-groups`. */
  readonly catalogue: Readonly<Record<string, CatalogueFeed>>;
}

/** A sale in the network's terms: its ids, and the full commission before the share is applied. */
export interface Sale {
  readonly id: string;
  readonly advertiserId: string;
  readonly status: Status;
  readonly country: string | undefined;
  readonly clickedAt: Timestamp | undefined;
  readonly soldAt: Timestamp;
  readonly currency: string;
  readonly orderValue: Amount;
  /** One entry, or several if parts of the sale belong to groups with different shares. */
  readonly commissions: readonly Commission[];
  readonly subId: string | undefined;
  readonly subData?: string | undefined;
  readonly offerId?: string | undefined;
  readonly couponCode?: string | undefined;
  /** Orders versions of a sale; the greater is newer. Often a time in milliseconds; undefined if unknown. */
  readonly version?: number | undefined;
  /** When the network last changed the sale, if known. The import skips older versions. */
  readonly changedAt?: Timestamp | undefined;
}

export interface Commission {
  readonly amount: Amount;
  readonly group?: string | undefined;
}

/** A feed with one row per sale. */
export interface WholeSaleFeed {
  readonly shape: FeedShape;
  /** Field with the network's id of the sale, for messages. */
  readonly idField: (format: FeedFormat) => string;
  readonly readSale: (row: Fields, format: FeedFormat) => Sale;
  /** Notes for the report about formats that lack data. */
  readonly formatNotes?: Partial<Record<FeedFormat, string>>;
}

/** A feed with several rows per sale, which must be joined first. */
export interface PartedSaleFeed<Part extends SalePart = SalePart> {
  readonly shape: FeedShape;
  readonly idField: (format: FeedFormat) => string;
  readPart(row: Fields): Part | LeftOutRow;
  /** Joins parts to a sale. Problems of the combination are added to `group`. */
  joinParts(parts: readonly [Part, ...Part[]], group: Fields): Sale;
  /** Message if the parts of all files do not fit together. */
  findFault?(parts: Iterable<Part>): string | undefined;
}

/** A row that is not part of a sale, with its category for the report. */
export interface LeftOutRow {
  readonly leftOut: string;
}

export interface SalePart {
  /** The sale that the part belongs to. */
  readonly saleId: string;
  /** The network's id of the row; repeated rows count once. */
  readonly partId: string;
  /** Orders versions of a row; the greater is newer. */
  readonly version: number;
}

export type SaleFeed = WholeSaleFeed | PartedSaleFeed;

export interface CatalogueFeed {
  readonly shape: FeedShape;
  /** Set if files are given as ID=FILE because they do not contain the advertiser's id. */
  readonly advertiser?: 'needed' | 'optional' | undefined;
  /** True if the feed lists the retailers that the publisher works with. */
  readonly listsPartners?: boolean | undefined;
  /** Facts of a row. Empty if the row contains nothing to publish. */
  readonly readFacts: (row: Fields, advertiserId: string | undefined, format: FeedFormat) => CatalogueFact[];
}
