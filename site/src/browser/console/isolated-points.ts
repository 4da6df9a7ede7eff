/** Returns the indices of numbers between two gaps. A line through such a number would have no length. */
export function isolatedPoints(values: readonly (number | null)[]): number[] {
  const isGap = (index: number) => (values[index] ?? null) === null;
  return [...values.keys()].filter((i) => !isGap(i) && isGap(i - 1) && isGap(i + 1));
}
