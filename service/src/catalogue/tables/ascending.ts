// Ascending sequences of item numbers, from which pages are selected.

import { firstIndex } from '../../domain/binary-search.ts';

export interface Ascending {
  /** Calls `visit` for each number at or above `begin` until `visit` returns false. */
  walk(begin: number, visit: (number: number) => boolean): void;
}

export function allBelow(end: number): Ascending {
  return {
    walk(begin, visit) {
      for (let number = begin; number < end; number++) if (!visit(number)) return;
    },
  };
}

export function ascendingArray(numbers: Uint32Array): Ascending {
  return {
    walk(begin, visit) {
      const first = firstIndex(numbers.length, (index) => (numbers[index] as number) >= begin);
      for (let index = first; index < numbers.length; index++) if (!visit(numbers[index] as number)) return;
    },
  };
}

export interface Range {
  readonly begin: number;
  readonly end: number;
}

/** Returns the first `limit` numbers in the range that `accept` accepts. */
export function firstAccepted(
  numbers: Ascending,
  { begin, end }: Range,
  limit: number,
  accept: (number: number) => boolean = () => true,
): number[] {
  const found: number[] = [];
  numbers.walk(begin, (number) => {
    if (number >= end) return false;
    if (accept(number)) found.push(number);
    return found.length < limit;
  });
  return found;
}
