/** Returns the indices of numbers without a number beside them. A line through them would have no length. */
export function isolatedPoints(values: readonly (number | null)[]): number[] {
  const isGap = (index: number) => (values[index] ?? null) === null;
  return [...values.keys()].filter((i) => !isGap(i) && isGap(i - 1) && isGap(i + 1));
}
