// Sums of amounts, exact to the last digit: sums of doubles would drift, and some have more digits than a double keeps.

import { printJson, rawJson } from './decimal.ts';

/** Nearly all amounts are whole numbers of this part of a unit, and are added up as such. */
const PARTS = 10_000;
/** Beyond it, the parts might no longer be exact, or their sum might not. */
const QUICK_MAX = 1e10;
const PARTS_MAX = 2 ** 52;
/** No amount has more. */
const DECIMALS = 15;
const SMALLEST_IN_PART = 10n ** BigInt(DECIMALS) / BigInt(PARTS);

export class DecimalSum {
  #parts = 0;
  /** What is not among the parts, in units of the last decimal. */
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

  /** A number with all its digits. */
  toJSON(): unknown {
    return rawJson(this.toString());
  }

  #whole(): bigint {
    return this.#rest + BigInt(this.#parts) * SMALLEST_IN_PART;
  }
}
