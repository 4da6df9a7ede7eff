// Counts clicks by outcome, for the metrics. The counts are plain data, which threads can post to each other.

export const CLICK_OUTCOMES = [
  'tracked',
  'untracked',
  'repeated',
  'crawler',
  'preview',
  'prefetch',
  'embedded',
  'limited',
  'lost',
] as const;

/**
 * `tracked` and `untracked` clicks were recorded; for an `untracked` click, the operator has no link. `repeated` counts further
 * taps on the same link. Requests by a `crawler`, for a `preview`, by a `prefetch` and for an `embedded` image or frame are
 * not clicks. `limited` clicks exceeded the rate limit, and `lost` clicks could not be recorded: for both, links redirect to
 * the shop's plain URL, and POST gets an error.
 */
export type ClickOutcome = (typeof CLICK_OUTCOMES)[number];

export type ClickTally = Record<ClickOutcome, number>;

export function newClickTally(): ClickTally {
  return Object.fromEntries(CLICK_OUTCOMES.map((outcome) => [outcome, 0])) as ClickTally;
}
