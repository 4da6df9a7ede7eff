// What became of clicks, for the metrics. Plain data, so that the counts of several threads can be added up.

export const CLICK_OUTCOMES = [
  'tracked',
  'untracked',
  'repeated',
  'bot',
  'prefetch',
  'embedded',
  'limited',
  'lost',
] as const;

/**
 * `tracked` and `untracked` were recorded, `repeated` were second taps. `bot`, `prefetch` and `embedded` (an image or frame
 * of some page) were no clicks. `limited` came too often and `lost` could be recorded nowhere: users who followed a link
 * were redirected to the shop's plain URL, programs got an error.
 */
export type ClickOutcome = (typeof CLICK_OUTCOMES)[number];

export type ClickTally = Record<ClickOutcome, number>;

export function newClickTally(): ClickTally {
  return Object.fromEntries(CLICK_OUTCOMES.map((outcome) => [outcome, 0])) as ClickTally;
}
