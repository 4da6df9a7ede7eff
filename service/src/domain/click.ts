// A click: a user of an organisation has activated a deal, or followed the link that an activation returned. It is kept
// until the sale comes that it leads to, and tells whose sale that is.

import { printBase62 } from './base62.ts';
import type { DealList } from './deals.ts';
import type { Uuid } from './uuid.ts';

declare const brand: unique symbol;
/** Made and checked by activation/click-id.ts. */
export type ClickId = string & { readonly [brand]: 'ClickId' };

/** How many characters of an id say when it was made. */
export const CLICK_TIME_LENGTH = 7;

/** Ids of clicks made before this moment sort before this text, and those made later behind it. */
export function firstClickIdAt(ms: number): string {
  return printBase62(ms, CLICK_TIME_LENGTH);
}

/** What can be activated: a retailer, or a deal of one of its lists. */
export type ActivatedKind = 'retailers' | DealList;

export interface Click {
  readonly id: ClickId;
  readonly orgId: number;
  readonly kind: ActivatedKind;
  /** Of what was activated. */
  readonly dealId: Uuid;
  readonly retailerId: Uuid;
  /** Null after an erasure: whose click it was is forgotten, and stays so. */
  readonly passbackUid: string | null;
  readonly passbackData: string | null;
  readonly activatedAtMs: number;
  /** Null until the link is followed that an activation returned. */
  readonly clickedAtMs: number | null;
  /** Whether the network was told of it. Without a link of the operator's, the user has gone to the shop by the plain URL. */
  readonly isTracked: boolean;
}

/** A click, and what it has in common with a second tap on the same link. */
export interface Tap {
  readonly click: Click;
  readonly key: string;
}

/** Taps with the same key within this time are one click. */
export const TAP_MS = 10_000;

/** An organisation, or one user of it. */
export interface ClickOwner {
  readonly orgId: number;
  readonly passbackUid?: string;
}

/** Clicks of one organisation on one retailer and its deals, within some time. */
export interface ClickCount {
  readonly orgId: number;
  readonly retailerId: Uuid;
  readonly clicks: number;
  readonly tracked: number;
  /** Those of which a sale has come. */
  readonly sold: number;
}

export interface ClickStore {
  /**
   * Keeps clicks, all in one commit that waits for the disk. Returns the ids that count, in the order of the taps: of a
   * second tap, wherever the first one was, that of the first. No key may come twice.
   */
  record(taps: readonly Tap[]): Promise<ClickId[]>;
  /** The same without a look at taps. Of a click that is there already, only a missing `clickedAtMs` is filled in. */
  put(clicks: readonly Click[]): Promise<void>;
  find(ids: readonly ClickId[]): Promise<Map<ClickId, Click>>;
  /** The first clicks, in the order of time. */
  list(limit: number): Promise<Click[]>;
  /** Of clicks that were made at or after one moment and before another. */
  countBetween(fromMs: number, untilMs: number): Promise<ClickCount[]>;
  /** Removes clicks that are still what they were when they were listed. */
  remove(clicks: readonly Click[]): Promise<void>;
  /** Once the last are removed: no byte of them stays in the files. */
  emptyLog(): Promise<void>;
  /** Notes that sales have come of these clicks: a purge leaves them. */
  markSold(ids: readonly ClickId[]): Promise<void>;
  /** Forgets clicks from before a moment of which no sale has come, batch by batch; returns how many. */
  purge(beforeMs: number, onBatch?: (count: number) => void): Promise<number>;
  /** How many clicks an organisation has, or one user of it. Reads all clicks. */
  countOf(owner: ClickOwner): Promise<number>;
  /** Forgets whose clicks these were and what was passed along, batch by batch; returns how many. The clicks stay. */
  erase(owner: Required<ClickOwner>, onBatch?: (count: number) => void): Promise<number>;
  /** Deletes all clicks of an organisation, batch by batch; returns how many. */
  deleteOf(orgId: number, onBatch?: (count: number) => void): Promise<number>;
  close(): Promise<void>;
}
