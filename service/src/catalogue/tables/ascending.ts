// Ascending sequences of item numbers, from which pages are selected, and binary search.

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

/** The numbers must be sorted. */
export function sequence(numbers: readonly number[]): Ascending {
  return {
    walk(begin, visit) {
      for (const number of numbers) if (number >= begin && !visit(number)) return;
    },
  };
}

/** Returns the first `limit` numbers at or above `begin`. */
export function firstOf(numbers: Ascending, begin: number, limit: number): number[] {
  const found: number[] = [];
  numbers.walk(begin, (number) => {
    found.push(number);
    return found.length < limit;
  });
  return found;
}

export interface Range {
  readonly begin: number;
  readonly end: number;
}

/** Returns the first index for which the test is true, or `count` if there is none. The test must be monotonic. */
export function firstIndex(count: number, test: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
