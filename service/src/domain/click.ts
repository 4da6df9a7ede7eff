// A click: a user of an organisation activated a deal. The stored click is later used to attribute the sale to the user.

import type { DealList } from '@offerbook/wire/deals.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { printBase62 } from './base62.ts';

declare const brand: unique symbol;
/** Created and verified by activation/click-id.ts. */
export type ClickId = string & { readonly [brand]: 'ClickId' };

/** Length of the id prefix that encodes the creation time. */
export const CLICK_TIME_LENGTH = 7;

/** Returns a lower bound for ids created at or after this time. Earlier ids sort before it. */
export function firstClickIdAt(ms: number): string {
  return printBase62(ms, CLICK_TIME_LENGTH);
}

/** The list that contains the activated retailer or deal. */
export type ActivatedKind = 'retailers' | DealList;

export interface Click {
  readonly id: ClickId;
  readonly orgId: number;
  readonly kind: ActivatedKind;
  /** Id of the activated retailer or deal. */
  readonly dealId: Uuid;
  readonly retailerId: Uuid;
  /** Null if the user was erased. */
  readonly passbackUid: string | null;
  readonly passbackData: string | null;
  readonly activatedAtMs: number;
  /** Null until the user follows the link that the activation returned. */
  readonly clickedAtMs: number | null;
  /** False if the operator has no link for the deal. The user then went directly to the shop, without tracking. */
  readonly isTracked: boolean;
}

/** A click with a key that identifies repeated taps on the same link. */
export interface Tap {
  readonly click: Click;
  readonly key: string;
}

/** Taps with the same key within this time count as one click. */
export const TAP_MS = 10_000;

export interface ClickOwner {
  readonly orgId: number;
  readonly passbackUid?: string;
}

/** Click counts for one organisation and one retailer, including the retailer's deals, in an interval. */
export interface ClickCount {
  readonly orgId: number;
  readonly retailerId: Uuid;
  readonly clicks: number;
  readonly tracked: number;
  /** Clicks that resulted in a sale. */
  readonly sold: number;
}

/** What happens to clicks that arrive now. */
export type ClickFate = 'recorded' | 'spooled' | 'lost';

export interface ClickStore {
  /**
   * Stores clicks durably in one commit. Returns the effective click id of each tap: for a repeated tap, the id of the first
   * one, even if another server recorded it. Keys must be unique within a call.
   */
  record(taps: readonly Tap[]): Promise<ClickId[]>;
  /** Stores clicks without checking for repeated taps. For a click that is already stored, only sets a missing `clickedAtMs`. */
  put(clicks: readonly Click[]): Promise<void>;
  find(ids: readonly ClickId[]): Promise<Map<ClickId, Click>>;
  /** Returns the oldest clicks, in chronological order. */
  list(limit: number): Promise<Click[]>;
  /** Counts the clicks in [fromMs, untilMs). */
  countBetween(fromMs: number, untilMs: number): Promise<ClickCount[]>;
  /** Removes clicks that have not changed since they were listed. */
  remove(clicks: readonly Click[]): Promise<void>;
  /** Removes traces of deleted clicks from the database's log files. */
  emptyLog(): Promise<void>;
  /** Marks clicks that resulted in a sale; purge() keeps them. */
  markSold(ids: readonly ClickId[]): Promise<void>;
  /** Deletes clicks made before `beforeMs` that did not result in a sale, in batches. Returns how many were deleted. */
  purge(beforeMs: number, onBatch?: (count: number) => void): Promise<number>;
  /** Counts the clicks of an organisation or of one of its users. Reads all clicks. */
  countOf(owner: ClickOwner): Promise<number>;
  /** Removes the user id and passback data from clicks, in batches; returns how many were changed. */
  erase(owner: Required<ClickOwner>, onBatch?: (count: number) => void): Promise<number>;
  /** Deletes all clicks of an organisation, in batches; returns how many were deleted. */
  deleteOf(orgId: number, onBatch?: (count: number) => void): Promise<number>;
  close(): Promise<void>;
}

/** Clicks that are kept in a file until the database can store them. Other processes may have damaged the file. */
export interface ClickSpool extends ClickStore {
  /** Sets aside a row that is not a valid click. The row stays in the file, with the reason. */
  setAside(id: string, reason: string): Promise<void>;
  /** Sets aside rows larger than any click, without reading them into memory; returns their number. */
  setAsideOversized(): Promise<number>;
}
