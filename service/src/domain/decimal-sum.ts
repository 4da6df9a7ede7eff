// Exact sums of amounts. Sums of doubles accumulate errors, and some totals have more digits than a double holds.

import { printJson, rawJson } from '@offerbook/wire/decimal.ts';

/** Fast path: most amounts are whole multiples of 1/PARTS and are summed as integers. */
const PARTS = 10_000;
/** Limits below which the integers and their sum are exact. */
const QUICK_MAX = 1e10;
const PARTS_MAX = 2 ** 52;
/** Most decimals that an amount can have. */
const DECIMALS = 15;
const SMALLEST_IN_PART = 10n ** BigInt(DECIMALS) / BigInt(PARTS);

export class DecimalSum {
  #parts = 0;
  /** The rest of the sum, in units of 10^-DECIMALS. */
  #rest = 0n;

  static of(sums: Iterable<DecimalSum>): DecimalSum {
    const total = new DecimalSum();
    for (const sum of sums) total.#rest += sum.#whole();
    return total;
  }

  add(value: number): void {
    const parts = Math.round(value * PARTS);
    if (parts / PARTS === value && Math.abs(value) < QUICK_MAX) {
      this.#parts += parts;
      if (Math.abs(this.#parts) > PARTS_MAX) {
        this.#rest = this.#whole();
        this.#parts = 0;
      }
      return;
    }
    const [whole = '', fraction = ''] = printJson(value).split('.');
    this.#rest += BigInt(whole + fraction.padEnd(DECIMALS, '0'));
  }

  toString(): string {
    const sum = this.#whole();
    const digits = (sum < 0n ? -sum : sum).toString().padStart(DECIMALS + 1, '0');
    const fraction = digits.slice(-DECIMALS).replace(/0+$/, '');
    return `${sum < 0n ? '-' : ''}${digits.slice(0, -DECIMALS)}${fraction === '' ? '' : `.${fraction}`}`;
  }

  /** A JSON number with all its digits. */
  toJSON(): unknown {
    return rawJson(this.toString());
  }

  #whole(): bigint {
    return this.#rest + BigInt(this.#parts) * SMALLEST_IN_PART;
  }
}
