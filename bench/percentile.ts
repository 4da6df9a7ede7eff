// Percentiles of a list of values.

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export function median<T>(values: readonly T[], of: (value: T) => number): number {
  return percentile(values.map(of), 0.5);
}
