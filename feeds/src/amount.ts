// Amounts of money and fractions as exact decimals, from the text of a network's file to the number that is printed. Sums
// and products lose nothing; rounding happens where it is asked for, and nowhere else.

import { parseDecimal } from '@offerbook/wire/decimal.ts';

/** units × 10^-scale */
export interface Amount {
  readonly units: bigint;
  readonly scale: number;
}

export const ROUNDINGS = ['half-even', 'half-up', 'down'] as const;
export type Rounding = (typeof ROUNDINGS)[number];

export const ZERO: Amount = { units: 0n, scale: 0 };

/** Far more than any sum of money has, and few enough that no file can keep the arithmetic busy. */
const DIGITS_MAX = 60;

/** Digits with an optional point: `81`, `-4.05`. */
export function parseAmount(text: string): Amount | undefined {
  if (text.length > DIGITS_MAX || !/^-?\d+(?:\.\d+)?$/.test(text)) return undefined;
  const point = text.indexOf('.');
  if (point === -1) return { units: BigInt(text), scale: 0 };
  return { units: BigInt(text.slice(0, point) + text.slice(point + 1)), scale: text.length - point - 1 };
}

/**
 * An amount that may have a decimal comma or separators of thousands: `4,05`, `1.234,56`, `1,234.56`. Undefined where it
 * can be read in two ways: `1,234` is either a thousand or a little more than one.
 */
export function parseEitherMark(text: string): Amount | undefined {
  const mark = text.at(Math.max(text.lastIndexOf(','), text.lastIndexOf('.')));
  if (!text.includes(',')) return parseAmount(text);
  if (mark === '.') return isGrouped(text, ',', '.') ? parseAmount(text.replaceAll(',', '')) : undefined;
  if (text.includes('.')) return isGrouped(text, '.', ',') ? parseCommaAmount(text) : undefined;
  if (/^-?\d{1,3}(?:,\d{3}){2,}$/.test(text)) return parseAmount(text.replaceAll(',', ''));
  return /,\d{3}$/.test(text) ? undefined : parseCommaAmount(text);
}

/** An amount with a decimal comma, and perhaps points between its thousands. */
export function parseCommaAmount(text: string): Amount | undefined {
  if (text.includes('.') && !isGrouped(text, '.', ',')) return undefined;
  return parseAmount(text.replaceAll('.', '').replace(',', '.'));
}

/** Whether a text has separators between all its thousands, and the decimal mark at most once, after them. */
function isGrouped(text: string, separator: ',' | '.', mark: ',' | '.'): boolean {
  return new RegExp(`^-?\\d{1,3}(?:[${separator}]\\d{3})+(?:[${mark}]\\d+)?$`).test(text);
}

export function sum(amounts: readonly Amount[]): Amount {
  const scale = Math.max(0, ...amounts.map((amount) => amount.scale));
  return { units: amounts.reduce((total, amount) => total + unitsAt(amount, scale), 0n), scale };
}

export function multiply(a: Amount, b: Amount): Amount {
  return { units: a.units * b.units, scale: a.scale + b.scale };
}

/** What so many percent are as a fraction. */
export function ofPercent({ units, scale }: Amount): Amount {
  return { units, scale: scale + 2 };
}

export function compare(a: Amount, b: Amount): number {
  const scale = Math.max(a.scale, b.scale);
  const [left, right] = [unitsAt(a, scale), unitsAt(b, scale)];
  return left < right ? -1 : left > right ? 1 : 0;
}

export function isZero(amount: Amount): boolean {
  return amount.units === 0n;
}

export function isNegative(amount: Amount): boolean {
  return amount.units < 0n;
}

/** To so many decimals; one with fewer stays as it is. */
export function round(amount: Amount, decimals: number, rounding: Rounding): Amount {
  if (amount.scale <= decimals) return amount;
  const divisor = power(amount.scale - decimals);
  const magnitude = amount.units < 0n ? -amount.units : amount.units;
  const [quotient, rest] = [magnitude / divisor, magnitude % divisor];
  const half = rest * 2n;
  const isUp =
    rounding !== 'down' &&
    (half > divisor || (half === divisor && (rounding === 'half-up' || quotient % 2n === 1n)));
  const units = quotient + (isUp ? 1n : 0n);
  return { units: amount.units < 0n ? -units : units, scale: decimals };
}

export function printAmount({ units, scale }: Amount): string {
  const sign = units < 0n ? '-' : '';
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** The number to print; infinite when it has more digits than a number keeps, which the check of the row then refuses. */
export function toNumber(amount: Amount): number {
  const units = Number(amount.units);
  // Both are exact, and the quotient of two exact numbers is the number nearest to the true one, as is that of a text.
  if (Math.abs(units) < 1e15 && amount.scale <= 15) return units / 10 ** amount.scale;
  return parseDecimal(printAmount(amount));
}

function unitsAt({ units, scale }: Amount, wanted: number): bigint {
  return scale === wanted ? units : units * power(wanted - scale);
}

function power(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}
