// Exact decimal arithmetic for money and fractions. Only `round` loses digits.

import { DIGITS_MAX as EXACT_DIGITS_MAX, parseDecimal, printJson, rawJson } from './decimal.ts';

/** units × 10^-scale */
export interface Amount {
  readonly units: bigint;
  readonly scale: number;
}

export const ROUNDINGS = ['half-even', 'half-up', 'down'] as const;
type Rounding = (typeof ROUNDINGS)[number];

export const ZERO: Amount = { units: 0n, scale: 0 };

/** More than money needs, but few enough to keep the arithmetic fast. */
const DIGITS_MAX = 60;

/** Parses digits with an optional decimal point: `81`, `-4.05`. */
export function parseAmount(text: string): Amount | undefined {
  if (text.length > DIGITS_MAX || !/^-?\d+(?:\.\d+)?$/.test(text)) return undefined;
  const point = text.indexOf('.');
  if (point === -1) return { units: BigInt(text), scale: 0 };
  return { units: BigInt(text.slice(0, point) + text.slice(point + 1)), scale: text.length - point - 1 };
}

export function sum(amounts: readonly Amount[]): Amount {
  const scale = Math.max(0, ...amounts.map((amount) => amount.scale));
  return { units: amounts.reduce((total, amount) => total + unitsAt(amount, scale), 0n), scale };
}

export function multiply(a: Amount, b: Amount): Amount {
  return { units: a.units * b.units, scale: a.scale + b.scale };
}

/** Converts a percentage to a fraction. */
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

/** Rounds to at most `decimals` decimals. */
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

/** Returns infinity if the amount has too many digits for a double; validation then rejects the row. */
export function toNumber(amount: Amount): number {
  const units = Number(amount.units);
  // Both operands are exact, so the quotient is the double nearest to the true value.
  if (Math.abs(units) < 1e15 && amount.scale <= 15) return units / 10 ** amount.scale;
  return parseDecimal(printAmount(amount));
}

function unitsAt({ units, scale }: Amount, wanted: number): bigint {
  return scale === wanted ? units : units * power(wanted - scale);
}

function power(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

/** Fast path: smaller amounts with at most this many decimals are summed as integers. */
const QUICK_DECIMALS = 4;
const QUICK_MAX = 1e10;
const PARTS = 10 ** QUICK_DECIMALS;

/** Exact sum of many amounts. A sum of doubles accumulates errors, and a total can have more digits than a double can store. */
export class DecimalSum {
  /** Sum of the amounts on the fast path, in units of 10^-QUICK_DECIMALS. */
  #parts = 0n;
  #rest = ZERO;

  static of(sums: Iterable<DecimalSum>): DecimalSum {
    const total = new DecimalSum();
    total.#rest = sum(Array.from(sums, (part) => part.#total()));
    return total;
  }

  /** Adds an amount, or another sum as a string. */
  add(value: number | string): void {
    if (typeof value === 'string') {
      if (value.length <= EXACT_DIGITS_MAX) this.add(Number(value));
      else this.#rest = sum([this.#rest, parseAmount(value) ?? ZERO]);
      return;
    }
    const parts = Math.round(value * PARTS);
    if (parts / PARTS === value && Math.abs(value) < QUICK_MAX) this.#parts += BigInt(parts);
    else this.#rest = sum([this.#rest, parseAmount(printJson(value)) ?? ZERO]);
  }

  toString(): string {
    const text = printAmount(this.#total());
    return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  }

  /** A JSON number with all its digits. */
  toJSON(): unknown {
    return rawJson(this.toString());
  }

  #total(): Amount {
    return sum([this.#rest, { units: this.#parts, scale: QUICK_DECIMALS }]);
  }
}
