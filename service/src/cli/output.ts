// What commands print: one JSON document or text for people on stdout, everything else on stderr.

export interface OutputOptions {
  readonly json?: boolean;
}

/** The result of a command: as JSON when asked for, in words otherwise. */
export function printResult(options: OutputOptions, value: unknown, words: string): void {
  process.stdout.write(`${options.json === true ? JSON.stringify(value) : words}\n`);
}

export function printNote(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Columns wide enough for their longest cell. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
