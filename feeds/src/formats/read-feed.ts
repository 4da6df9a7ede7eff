// Recognises the format of a network's file by its first bytes, never by its name, and reads its rows.

import { parseDecimal } from '@offerbook/wire/decimal.ts';
import { findTwice, readTable } from '@offerbook/wire/rows/csv.ts';
import { readJsonLists } from '@offerbook/wire/rows/json-lists.ts';
import { NOT_UTF8 } from '@offerbook/wire/rows/json-row.ts';
import { peekText } from '@offerbook/wire/rows/peek.ts';
import { BrokenFile, cutRows, type FieldProblem, type ParsedRow } from '@offerbook/wire/rows/raw-row.ts';
import type { RowLimits } from '@offerbook/wire/rows/row-limits.ts';
import { Fields, quote } from '../fields.ts';
import {
  type CsvShape,
  FEED_LIMITS,
  type FeedFormat,
  type FeedRow,
  type FeedShape,
  type PageInfo,
} from './feed-row.ts';
import { ElementCutter } from './xml-rows.ts';

export async function* readFeed(
  chunks: AsyncIterable<Uint8Array>,
  shape: FeedShape,
  onPage: (page: PageInfo) => void,
): AsyncGenerator<FeedRow[]> {
  const { text, all } = await peekText(chunks);
  // Networks return an empty list if there are no rows, so an empty file is a failed download.
  if (text === '') throw brokenFile('is empty');
  const format = recognise(text);
  for await (const rows of openRows(all, format, shape, onPage))
    yield rows.map((row) => ({ ...row, format }));
}

function recognise(text: string): FeedFormat {
  if (text.startsWith('{') || text.startsWith('[')) return 'JSON';
  return text.startsWith('<') ? 'XML' : 'CSV';
}

function openRows(
  chunks: AsyncIterable<Uint8Array>,
  format: FeedFormat,
  { json, xml, csv, readPageInfo, limits = FEED_LIMITS }: FeedShape,
  onPage: (page: PageInfo) => void,
): AsyncGenerator<ParsedRow[]> {
  const onResponse = (answer: Record<string, unknown>, line: number) => {
    const page = readPageInfo?.(new Fields(answer)) ?? {};
    if (page.error !== undefined) onError(page.error, line);
    onPage(page);
  };
  if (format === 'JSON' && json !== undefined) {
    return readJsonLists(chunks, {
      lists: json,
      areMany: true,
      limits,
      readNumber: keepDigits,
      onResponse,
    });
  }
  if (format === 'XML' && xml !== undefined)
    return cutRows(chunks, new ElementCutter(xml, limits, { onError, onResponse }));
  if (format === 'CSV' && csv !== undefined) return readCsvRows(chunks, csv, limits);
  const formats = [json && 'JSON', xml && 'XML', csv && 'CSV'].filter((name) => name);
  throw brokenFile(`must be ${formats.join(' or ')}, but looks like ${format}`);
}

/** Returns a number as a string if it has more digits than a double can represent, because it may be an id. */
function keepDigits(literal: string): unknown {
  const value = parseDecimal(literal);
  return Number.isFinite(value) ? value : literal;
}

async function* readCsvRows(
  chunks: AsyncIterable<Uint8Array>,
  { columns, separator = ',' }: CsvShape,
  limits: RowLimits,
): AsyncGenerator<ParsedRow[]> {
  const table = readTable(chunks, {
    limits,
    separator,
    checkHeader: (cells) => checkHeader(cells, columns),
    readCell: (_name, cell) => cell,
  });
  for await (const rows of table) {
    // If a row is not UTF-8, the whole file probably uses another encoding. Skipping only such rows would withdraw every
    // retailer whose name has an accent.
    const invalid = rows.find(({ problem }) => problem === NOT_UTF8);
    if (invalid !== undefined) throw new BrokenFile(invalid.place, { ...NOT_UTF8, field: 'the text' });
    yield rows;
  }
}

function checkHeader(cells: readonly string[], columns: readonly string[]): readonly string[] | FieldProblem {
  const names = cells.map((name) => name.trim());
  // Exports often end with empty columns.
  const twice = findTwice(names.filter((name) => name !== ''));
  if (twice !== undefined) return twice;
  const missing = columns.filter((name) => !names.includes(name)).map((name) => `"${name}"`);
  if (missing.length === 0) return names;
  return { field: 'the header', reason: `has no column ${missing.join(', ')}` };
}

function onError(message: string, line: number): never {
  throw brokenFile(`is an error response from the network: ${quote(message)}`, line);
}

function brokenFile(reason: string, line = 1): BrokenFile {
  return new BrokenFile({ line }, { field: 'the file', reason });
}
