// Ascending sequences of item numbers, from which pages are selected.

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

export interface Range {
  readonly begin: number;
  readonly end: number;
}

/** Returns the first `limit` numbers in the range. */
export function firstOf(numbers: Ascending, { begin, end }: Range, limit: number): number[] {
  const found: number[] = [];
  numbers.walk(begin, (number) => {
    if (number >= end) return false;
    found.push(number);
    return found.length < limit;
  });
  return found;
}
