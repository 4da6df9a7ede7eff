// The one binary search.

/** The first of the numbers 0 … count − 1 for which the test is true, or count. Once true, it must stay true. */
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
