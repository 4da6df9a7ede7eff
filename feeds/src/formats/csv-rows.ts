// CSV feeds with the required columns. All cells are strings.

import { findTwice, readTable } from '@offerbook/wire/rows/csv.ts';
import { NOT_UTF8 } from '@offerbook/wire/rows/json-row.ts';
import { BrokenFile, type FieldProblem, type RawRow } from '@offerbook/wire/rows/raw-row.ts';
import { FEED_LIMITS, type FeedShape } from './feed-row.ts';

export async function* readCsvRows(
  chunks: AsyncIterable<Uint8Array>,
  { columns, separator = ',' }: NonNullable<FeedShape['csv']>,
): AsyncGenerator<RawRow[]> {
  const table = readTable(chunks, {
    limits: FEED_LIMITS,
    separator,
    checkHeader: (cells) => checkHeader(cells, columns),
    readCell: (_name, cell) => cell,
  });
  for await (const rows of table) {
    // The whole file has another encoding. Skipping the affected rows would withdraw every retailer with an accent.
    const foreign = rows.find(({ problem }) => problem === NOT_UTF8);
    if (foreign !== undefined) throw new BrokenFile(foreign.place, { ...NOT_UTF8, field: 'the text' });
    yield rows;
  }
}

function checkHeader(cells: readonly string[], columns: readonly string[]): readonly string[] | FieldProblem {
  const names = cells.map((name) => name.trim());
  // Exports often have empty columns at the end.
  const twice = findTwice(names.filter((name) => name !== ''));
  if (twice !== undefined) return twice;
  const missing = columns.filter((name) => !names.includes(name)).map((name) => `"${name}"`);
  if (missing.length === 0) return names;
  return { field: 'the header', reason: `has no column ${missing.join(', ')}` };
}
