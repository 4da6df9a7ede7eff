// Chooses how the fake networks misbehave. Limits that the networks document, such as windows and rates, are not faults: they
// are always enforced.

import { Random } from '../random.ts';
import type { NetworkName } from './accounts.ts';

/** Faults that a fake network can inject. A fault applies to every network unless its comment names one. */
export type Fault =
  /** 500, 502 or 503. */
  | 'server error'
  /** A valid HTTP response whose document ends in the middle. */
  | 'cut'
  /** The connection ends in the middle of the document. */
  | 'reset'
  /** Status 200 with an HTML page. */
  | 'page'
  /** Status 200 without a body. */
  | 'blank'
  /** The network's response to too many requests, although there were few. */
  | 'too many requests'
  /** 429 with Retry-After, which none of the networks documents. */
  | 'retry after'
  /** impact.com and paged catalogues: a row leaves the list between two pages, so that the next page skips a row. */
  | 'drift'
  /** Paged catalogues: the first row moves to the end between two pages, so that the next page skips a row, but the total stays. */
  | 'moved row'
  /** impact.com: a page's link to the next page points to the page itself. */
  | 'self link'
  /** impact.com: null, {}, [] or an empty list instead of an empty page. */
  | 'odd empty'
  /** CJ: errors with status 200. */
  | 'query error'
  /** CJ: fewer records than the limit, with payloadComplete false. */
  | 'incomplete'
  /** Rakuten: a page starts with the last row of the page before it. */
  | 'repeated row'
  /** Rakuten: the token expires early. */
  | 'expired token';

const COMMON: readonly Fault[] = [
  'server error',
  'cut',
  'reset',
  'page',
  'blank',
  'too many requests',
  'retry after',
];

/** The faults that each network may have in a random plan. */
const FAULTS: Readonly<Record<NetworkName, readonly Fault[]>> = {
  awin: COMMON,
  impact: [...COMMON, 'drift', 'self link', 'odd empty'],
  partnerize: COMMON,
  cj: [...COMMON, 'query error', 'incomplete'],
  rakuten: [...COMMON, 'repeated row', 'expired token'],
};

/** Returns the fault of a network's nth request, counted from 1. The target is its path and query. */
export type FaultPlan = (network: NetworkName, number: number, target?: string) => Fault | undefined;

/** A fraction of the requests fail. The same seed gives the same faults. */
export function randomFaults(seed: number, share: number): FaultPlan {
  return (network, number) => {
    const random = new Random(seed, 'fault', network, number);
    return random.chance(share) ? random.pick(FAULTS[network]) : undefined;
  };
}
