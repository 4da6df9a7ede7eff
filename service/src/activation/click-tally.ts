// What became of clicks, for the metrics. Plain data, so that the counts of several threads can be added up.

export const CLICK_OUTCOMES = [
  'tracked',
  'untracked',
  'repeated',
  'bot',
  'prefetch',
  'limited',
  'lost',
] as const;

/**
 * `tracked` and `untracked` were recorded, `repeated` were second taps. `limited` came too often and `lost` could be
 * recorded nowhere: users who followed a link were sent to the shop by its plain URL, programs were refused.
 */
export type ClickOutcome = (typeof CLICK_OUTCOMES)[number];

export type ClickTally = Record<ClickOutcome, number>;

export function newClickTally(): ClickTally {
  return Object.fromEntries(CLICK_OUTCOMES.map((outcome) => [outcome, 0])) as ClickTally;
}
