// Lengths of time in milliseconds, whole seconds, and the header that asks to wait.

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export function wholeSecond(ms: number): number {
  return ms - (ms % SECOND_MS);
}

/** Parses a Retry-After header: seconds or a date. Returns undefined if it is missing or invalid, and 0 for a past date. */
export function parseRetryAfterMs(text: string | null | undefined, nowMs: number): number | undefined {
  if (text == null) return undefined;
  const ms = /^\d{1,9}$/.test(text.trim()) ? Number(text) * SECOND_MS : Math.max(0, Date.parse(text) - nowMs);
  return Number.isNaN(ms) ? undefined : ms;
}
