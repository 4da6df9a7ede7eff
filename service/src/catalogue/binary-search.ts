// Binary search over indexes.

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
