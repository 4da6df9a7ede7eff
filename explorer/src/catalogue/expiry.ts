// When a deal ends, in words. Days are the reader's own: "tomorrow" is tomorrow where they are.

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Beyond this, a date says more than a number of days. */
const DAYS_MAX = 13;
/** From when on a deal is worth a warning. */
const SOON_DAYS = 3;

export interface Expiry {
  readonly words: string;
  readonly soon: boolean;
}

/** `endDate` is the wire's text: UTC, and the first moment at which the deal is over. */
export function expiry(endDate: string, now: Date): Expiry {
  const endMs = Date.parse(`${endDate}Z`);
  const leftMs = endMs - now.getTime();
  if (leftMs <= 0) return { words: 'has ended', soon: true };
  if (leftMs < HOUR_MS) {
    const minutes = Math.max(1, Math.floor(leftMs / MINUTE_MS));
    return { words: minutes === 1 ? 'ends in a minute' : `ends in ${minutes} minutes`, soon: true };
  }
  // What ends at midnight is good for the whole day before.
  const lastMoment = new Date(endMs - 1);
  const days = dayNumber(lastMoment) - dayNumber(now);
  if (days === 0) return { words: 'ends today', soon: true };
  if (days === 1) return { words: 'ends tomorrow', soon: true };
  if (days <= DAYS_MAX) return { words: `ends in ${days} days`, soon: days <= SOON_DAYS };
  return { words: `until ${printDay(lastMoment, now)}`, soon: false };
}

/** Days since the epoch by the local calendar; summer time does not shift it. */
function dayNumber(date: Date): number {
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / (24 * HOUR_MS);
}

function printDay(date: Date, now: Date): string {
  const year = date.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year }).format(date);
}
