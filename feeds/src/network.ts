// What a network is to the rest: how its files are shaped, and what becomes of their rows. A network is made from a source
// file and is pure: it reads no file, knows no time, and keeps nothing from one row to the next.

import type { Amount } from '@offerbook/wire/amount.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Status } from '@offerbook/wire/transaction.ts';
import type { CatalogueFact } from './catalogue/facts.ts';
import type { Fields } from './fields.ts';
import type { FeedFormat, FeedShape } from './formats/feed-row.ts';

export interface Network {
  /** Undefined where the source file does not describe any. */
  readonly transactions: SaleFeed | undefined;
  /** The files that a catalogue is made of, by the name of their option: `commission-groups`. */
  readonly catalogue: Readonly<Record<string, CatalogueFeed>>;
}

/** A sale as a network tells it: their ids, their commission, no share taken yet. */
export interface Sale {
  readonly id: string;
  readonly advertiserId: string;
  readonly status: Status;
  readonly country: string | undefined;
  readonly clickedAt: Timestamp | undefined;
  readonly soldAt: Timestamp;
  readonly currency: string;
  readonly orderValue: Amount;
  /** One entry, or several where parts of the sale belong to groups with shares of their own. */
  readonly commissions: readonly Commission[];
  readonly subId: string | undefined;
  readonly subData?: string | undefined;
  readonly offerId?: string | undefined;
  readonly couponCode?: string | undefined;
  /** Of two versions of a sale the greater is the newer, if the network tells: often a time in milliseconds. */
  readonly version?: number | undefined;
  /** When the network last changed the sale, if it tells: the import keeps out what is older. */
  readonly changedAt?: Timestamp | undefined;
}

export interface Commission {
  readonly amount: Amount;
  readonly group?: string | undefined;
}

/** Where a network has one row for each sale. */
export interface WholeSaleFeed {
  readonly shape: FeedShape;
  /** The field with their id of the sale, for messages. */
  readonly idField: (format: FeedFormat) => string;
  readonly readSale: (row: Fields, format: FeedFormat) => Sale;
  /** What to tell about files of a format that lacks something. */
  readonly formatNotes?: Partial<Record<FeedFormat, string>>;
}

/** Where a sale is several rows, which have to be put together before anything else. */
export interface PartedSaleFeed<Part extends SalePart = SalePart> {
  readonly shape: FeedShape;
  readonly idField: (format: FeedFormat) => string;
  readPart(row: Fields): Part | LeftOutRow;
  /** The sale of some parts; what is wrong with them together is noted in the fields. */
  joinParts(parts: readonly [Part, ...Part[]], group: Fields): Sale;
  /** What is wrong with all the parts of a run together. */
  findFault?(parts: Iterable<Part>): string | undefined;
}

/** A row that is part of no sale, and what such rows are, for the count in the report. */
export interface LeftOutRow {
  readonly leftOut: string;
}

export interface SalePart {
  /** Which sale it belongs to. */
  readonly saleId: string;
  /** Their id of the row: one that comes twice counts once. */
  readonly partId: string;
  /** Of two versions of a row the greater is the newer. */
  readonly version: number;
}

export type SaleFeed = WholeSaleFeed | PartedSaleFeed;

export interface CatalogueFeed {
  readonly shape: FeedShape;
  /** Whether files are given as ID=FILE, where nothing in them tells which advertiser they are about. */
  readonly advertiser?: 'needed' | 'optional' | undefined;
  /** Whether it says which retailers the publisher works with. */
  readonly tellsPartners?: boolean | undefined;
  /** What a row says: one fact, several, or none when it is about nothing that is published. */
  readonly readFacts: (row: Fields, advertiserId: string | undefined, format: FeedFormat) => CatalogueFact[];
}
