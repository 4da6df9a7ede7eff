// Any CSV that has some columns; all cells are texts.

import { findTwice, readTable } from '../../importer/formats/csv.ts';
import type { FieldProblem, RawRow } from '../../importer/formats/raw-row.ts';
import { FEED_LIMITS, type FeedShape } from './feed-row.ts';

export function readCsvRows(
  chunks: AsyncIterable<Uint8Array>,
  { columns, separator = ',' }: NonNullable<FeedShape['csv']>,
): AsyncGenerator<RawRow[]> {
  return readTable(chunks, {
    limits: FEED_LIMITS,
    separator,
    checkHeader: (cells) => checkHeader(cells, columns),
    readCell: (_name, cell) => cell,
  });
}

function checkHeader(cells: readonly string[], columns: readonly string[]): readonly string[] | FieldProblem {
  const names = cells.map((name) => name.trim());
  const twice = findTwice(names);
  if (twice !== undefined) return twice;
  const missing = columns.filter((name) => !names.includes(name)).map((name) => `"${name}"`);
  if (missing.length === 0) return names;
  return { field: 'the header', reason: `has no column ${missing.join(', ')}` };
}
