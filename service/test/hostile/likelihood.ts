// Compares two samples without assumptions about their distributions.

/**
 * Probability that a value of the first sample is greater than a value of the second; 0.5 if the samples are indistinguishable.
 */
export function likelihoodOfGreater(one: readonly number[], other: readonly number[]): number {
  let greater = 0;
  for (const a of one) for (const b of other) greater += a > b ? 1 : a === b ? 0.5 : 0;
  return greater / (one.length * other.length);
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
