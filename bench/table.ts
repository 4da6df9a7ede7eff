// Formats Markdown tables and the figures in them, and computes percentiles.

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

export function ratio(value: number): string {
  return value >= 10 ? value.toFixed(0) : value.toFixed(2);
}

export function milliseconds(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

export function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MB`;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export function median<T>(values: readonly T[], of: (value: T) => number): number {
  return percentile(values.map(of), 0.5);
}
