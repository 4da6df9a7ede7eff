// Prints a report: counts, then the table, then the violations.

import type { Report } from './play.ts';
import type { Cells } from './run.ts';

export function printReport({ counts, rows, violations }: Report): string {
  const width = Math.max(0, ...Object.keys(counts).map((what) => what.length));
  return [
    ...Object.entries(counts).map(([what, count]) => `  ${what.padEnd(width)} ${count}`),
    ...printTable(rows),
    ...violations.map((violation) => `  ${violation}`),
    violations.length === 0 ? '  no violation' : `  ${violations.length} violations`,
  ].join('\n');
}

/** Numbers are aligned right. */
function printTable(rows: readonly Cells[]): string[] {
  const [first] = rows;
  if (first === undefined) return [];
  const columns = Object.keys(first).map((name) => {
    const cells = [name, ...rows.map((row) => row[name] ?? '')];
    const width = Math.max(...cells.map((cell) => String(cell).length));
    const isNumeric = cells.slice(1).every((cell) => typeof cell === 'number');
    return cells.map((cell) => (isNumeric ? String(cell).padStart(width) : String(cell).padEnd(width)));
  });
  return Array.from({ length: rows.length + 1 }, (_, i) =>
    `  ${columns.map((column) => column[i]).join('  ')}`.trimEnd(),
  );
}
