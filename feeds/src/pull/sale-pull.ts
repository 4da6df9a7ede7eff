// Interface for fetching a network's sales: which requests to send, and how to continue after each response. Implementations
// are pure: they neither send requests nor read the clock.

import { peek } from '@offerbook/wire/rows/peek.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Fields } from '../fields.ts';
import type { NetworkAccess, PullRequest } from './network-access.ts';

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

/** The parts of a page that determine how the walk continues. */
export interface PulledPage {
  readonly rowCount: number;
  /** The fields of the response outside its rows; undefined if the response is a bare list. */
  readonly response: Fields | undefined;
  readonly header: (name: string) => string | null;
}

export interface SalePull extends NetworkAccess {
  readonly streams: readonly PullStream[];
  /** A filter by the time of sale, to check that the streams list every change; undefined if the network has none. */
  readonly reread?: PullStream;
  request(stream: string, window: PullWindow, position: string | undefined): PullRequest;
  /** Returns the position of the next page; undefined after the last page. */
  next(page: PulledPage, position: string | undefined): string | undefined;
  /** Reads the network's count of all rows in the window from a page. If it changes during a walk, rows may have been missed. */
  readTotal?(page: PulledPage): number | undefined;
  /** True if the body means "no rows" although it is not the usual document. */
  isNothing?(body: string): boolean;
  /** True if a response with status 200 is an error that repeating the request cannot fix. */
  readonly errorsAreFinal?: boolean;
  /** For networks whose sales have several rows: which parts of a row later pulls need. */
  readonly parts?: {
    readonly fields: readonly string[];
    /** The field with the sub-id, which is not in `fields`. */
    readonly subIdField: string;
    /** Sales of this age are converted again, because their status depends on their age. */
    readonly dueAfterMs?: number | undefined;
  };
}

/** Longer than every body that means "no rows". */
const NOTHING_BYTES_MAX = 100;

/** `isEmpty` is true if the body means "no rows". `all` yields the whole body. */
export async function peekNothing(
  body: AsyncIterable<Uint8Array>,
  { isNothing }: { isNothing?(body: string): boolean },
): Promise<{ isEmpty: boolean; all: AsyncIterable<Uint8Array> }> {
  if (isNothing === undefined) return { isEmpty: false, all: body };
  const { head, all } = await peek(body, NOTHING_BYTES_MAX);
  return { isEmpty: head.length < NOTHING_BYTES_MAX && isNothing(Buffer.from(head).toString()), all };
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
