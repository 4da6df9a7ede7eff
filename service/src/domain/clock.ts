// The one source of the current time. Everything that needs "now" is handed a Clock, so that a test can
// stand at the second a coupon expires, and a sandbox can run faster than the wall.

/** Milliseconds since the epoch. */
export type Clock = () => number;

export const systemClock: Clock = Date.now;
