// Formats lists and ages for the sentences of health checks.

import { printCount, printCountOf } from '@offerbook/wire/count.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';

const LISTED_MAX = 5;
const HOUR_MS = 3_600_000;

/** The first items, and the number of the others. */
export function listed<Item>(items: readonly Item[], print: (item: Item) => string): string {
  const shown = items.slice(0, LISTED_MAX).map(print).join('; ');
  return items.length > LISTED_MAX ? `${shown}; and ${printCount(items.length - LISTED_MAX)} more` : shown;
}

/** `3 hours ago, at 2026-11-14T09:00:00` */
export function printAgo(atMs: number, nowMs: number): string {
  return `${printAge(nowMs - atMs)} ago, at ${printTimestamp(atMs)}`;
}

export function printAge(ms: number): string {
  const hours = Math.floor(ms / HOUR_MS);
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  return hours >= 2 ? `${hours} hours` : printCountOf(Math.max(0, Math.floor(ms / 60_000)), 'minute');
}
