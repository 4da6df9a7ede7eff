// Describes when a deal ends. Days are in the reader's time zone.

import { DAY_MS, HOUR_MS, MINUTE_MS } from '@offerbook/wire/time.ts';

/** Deals that end more than this many days from now are shown with a date. */
const DAYS_MAX = 13;
/** Deals that end within this many days are highlighted. */
const SOON_DAYS = 3;

/** `endDate` is a UTC timestamp from the API: the first moment at which the deal is no longer active. */
export function expiry(endDate: string, now: Date): { words: string; soon: boolean } {
  const endMs = Date.parse(`${endDate}Z`);
  const leftMs = endMs - now.getTime();
  if (leftMs <= 0) return { words: 'has ended', soon: true };
  if (leftMs < HOUR_MS) {
    const minutes = Math.max(1, Math.floor(leftMs / MINUTE_MS));
    return { words: minutes === 1 ? 'ends in a minute' : `ends in ${minutes} minutes`, soon: true };
  }
  // A deal that ends at midnight is active for the whole day before.
  const lastMoment = new Date(endMs - 1);
  const days = dayNumber(lastMoment) - dayNumber(now);
  if (days === 0) return { words: 'ends today', soon: true };
  if (days === 1) return { words: 'ends tomorrow', soon: true };
  if (days <= DAYS_MAX) return { words: `ends in ${days} days`, soon: days <= SOON_DAYS };
  return { words: `until ${printDay(lastMoment, now)}`, soon: false };
}

/** Days since the epoch in the local calendar, unaffected by daylight saving. */
function dayNumber(date: Date): number {
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY_MS;
}

function printDay(date: Date, now: Date): string {
  const year = date.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year }).format(date);
}
