// Exact sum of many amounts. A sum of doubles accumulates errors, and a total can have more digits than a double can store.

import { type Amount, parseAmount, printAmount, sum, ZERO } from './amount.ts';
import { DIGITS_MAX, printJson, rawJson } from './decimal.ts';

/** Fast path: amounts with at most this many decimals are summed as integers. */
const QUICK_DECIMALS = 4;
const PARTS = 10 ** QUICK_DECIMALS;
/** Below these limits, the integers and their sum are exact. */
const QUICK_MAX = 1e10;
const PARTS_MAX = 2 ** 52;

export class DecimalSum {
  /** Sum of the amounts on the fast path, in units of 10^-QUICK_DECIMALS. */
  #parts = 0;
  #rest = ZERO;

  static of(sums: Iterable<DecimalSum>): DecimalSum {
    const total = new DecimalSum();
    total.#rest = sum(Array.from(sums, (part) => part.#total()));
    return total;
  }

  /** Adds an amount, or another sum as a string. */
  add(value: number | string): void {
    if (typeof value === 'string') {
      if (value.length <= DIGITS_MAX) this.add(Number(value));
      else this.#rest = sum([this.#rest, parseAmount(value) ?? ZERO]);
      return;
    }
    const parts = Math.round(value * PARTS);
    if (parts / PARTS === value && Math.abs(value) < QUICK_MAX) {
      this.#parts += parts;
      if (Math.abs(this.#parts) > PARTS_MAX) {
        this.#rest = this.#total();
        this.#parts = 0;
      }
    } else this.#rest = sum([this.#rest, parseAmount(printJson(value)) ?? ZERO]);
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
    return sum([this.#rest, { units: BigInt(this.#parts), scale: QUICK_DECIMALS }]);
  }
}
