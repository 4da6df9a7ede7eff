// Formats Markdown tables and the figures in them.

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
