// How the sales rate varies with local time: low at night, highest in the evening, higher at weekends.

import { DAY_MS, HOUR_MS } from '@offerbook/wire/time.ts';
import { COUNTRIES, type Country } from './countries.ts';
import type { Random } from './random.ts';

/** Relative sales rate by hour of the day; the mean is 1. */
const BY_HOUR = [
  ...[0.35, 0.2, 0.12, 0.08, 0.1, 0.2, 0.45, 0.7, 0.9, 1.05, 1.15, 1.2],
  ...[1.3, 1.25, 1.15, 1.1, 1.2, 1.35, 1.6, 1.9, 2.15, 2.0, 1.55, 0.95],
];
/** Relative sales rate by weekday, starting on Sunday. */
const BY_WEEKDAY = [1.2, 1, 0.92, 0.92, 0.95, 1.03, 1.1];

const WEIGHT_TOTAL = COUNTRIES.reduce((sum, { weight }) => sum + weight, 0);
/** The epoch was a Thursday. */
const EPOCH_WEEKDAY = 4;

/** Combined sales rate of all countries, relative to the mean. */
export function busyness(atMs: number): number {
  return COUNTRIES.reduce((sum, country) => sum + weightAt(country, atMs), 0) / WEIGHT_TOTAL;
}

/** Draws the country of a sale, weighted by each country's sales rate at this time. */
export function pickCountry(random: Random, atMs: number): Country {
  return random.pickWeighted(COUNTRIES, (country) => weightAt(country, atMs));
}

function weightAt(country: Country, atMs: number): number {
  const localMs = atMs + country.utcOffsetHours * HOUR_MS;
  const hour = Math.floor((localMs % DAY_MS) / HOUR_MS);
  const weekday = (Math.floor(localMs / DAY_MS) + EPOCH_WEEKDAY) % 7;
  return country.weight * (BY_HOUR[hour] ?? 1) * (BY_WEEKDAY[weekday] ?? 1);
}
