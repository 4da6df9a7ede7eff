// A comparison of two samples that needs no assumption about how they are distributed.

/** How probable it is that a value of the one sample is greater than one of the other: 0.5 when nobody can tell them apart. */
export function likelihoodOfGreater(one: readonly number[], other: readonly number[]): number {
  let greater = 0;
  for (const a of one) for (const b of other) greater += a > b ? 1 : a === b ? 0.5 : 0;
  return greater / (one.length * other.length);
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
