// Interface for fetching a network's sales: which requests to send, and how to continue after each response. Implementations
// are pure: they neither send requests nor read the clock.

import { DAY_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { NetworkAccess, PullRequest } from './network-access.ts';
import type { PageRules, PulledPage } from './pulled-page.ts';

/** A period on the network's clock. */
export interface PullWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** One of the network's date filters. All filters together return every new and every changed sale. */
export interface PullStream {
  readonly name: string;
  /** The widest window to request: the network's limit minus one day. */
  readonly windowMs: number;
  /** How long before the end of the last complete window the next window starts. */
  readonly overlapMs: number;
  /** How far back a window may start. */
  readonly historyMs: number;
  /** Minimum time for which the network keeps its data. Default: historyMs. */
  readonly keptMs?: number;
}

export interface SalePull extends NetworkAccess, PageRules {
  readonly streams: readonly PullStream[];
  /** A filter by the time of sale, to check that the streams list every change; undefined if the network has none. */
  readonly reread?: PullStream;
  request(stream: string, window: PullWindow, position: string | undefined): PullRequest;
  /** Returns the position of the next page; undefined after the last page. */
  next(page: PulledPage, position: string | undefined): string | undefined;
  /** For networks whose sales have several rows: which parts of a row later pulls need. */
  readonly parts?: {
    readonly fields: readonly string[];
    /** The field with the sub-id, which is not in `fields`. */
    readonly subIdField: string;
    /** Sales of this age are converted again, because their status depends on their age. */
    readonly dueAfterMs?: number | undefined;
  };
}

/** `2026-11-14T12:00:00`, in UTC. */
export function printSecond(ms: number): string {
  return printTimestamp(ms - (ms % 1_000));
}

/** `2026-11-14 12:00:00`, in UTC. */
export function printSpacedSecond(ms: number): string {
  return printSecond(ms).replace('T', ' ');
}

const OVERLAP_MS = DAY_MS;
const YEAR_MS = 365 * DAY_MS;

/** Builds a stream. By default, windows overlap by one day and start at most three years ago. */
export function stream(name: string, windowDays: number, rules: Partial<PullStream> = {}): PullStream {
  return {
    name,
    windowMs: windowDays * DAY_MS,
    overlapMs: OVERLAP_MS,
    historyMs: 3 * YEAR_MS - DAY_MS,
    ...rules,
  };
}
