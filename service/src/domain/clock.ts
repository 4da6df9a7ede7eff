// The only source of the current time. Code that needs the time accepts a Clock, so that tests can set it and the sandbox can
// run faster than real time.

/** Milliseconds since the epoch. */
export type Clock = () => number;

export const systemClock: Clock = Date.now;
