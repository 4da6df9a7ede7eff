// Recognises the format of a network's file by its first bytes, never by its name, and reads its rows.

import { parseDecimal } from '@offerbook/wire/decimal.ts';
import { readJsonLists } from '@offerbook/wire/rows/json-lists.ts';
import { peekText } from '@offerbook/wire/rows/peek.ts';
import { BrokenFile, type ParsedRow } from '@offerbook/wire/rows/raw-row.ts';
import { quote } from '../fields.ts';
import { readCsvRows } from './csv-rows.ts';
import { FEED_LIMITS, type FeedFormat, type FeedRow, type FeedShape, type PageNote } from './feed-row.ts';
import { readXmlRows } from './xml-rows.ts';

export async function* readFeed(
  chunks: AsyncIterable<Uint8Array>,
  shape: FeedShape,
  onPage: (note: PageNote) => void,
): AsyncGenerator<FeedRow[]> {
  const { text, all } = await peekText(chunks);
  // Networks return an empty list if there are no rows, so an empty file is a failed download.
  if (text === '') throw new BrokenFile({ line: 1 }, { field: 'the file', reason: 'is empty' });
  const format = recognise(text);
  for await (const rows of openRows(all, format, shape, onPage))
    yield rows.map((row) => ({ ...row, format }));
}

function openRows(
  chunks: AsyncIterable<Uint8Array>,
  format: FeedFormat,
  { json, xml, csv, explain }: FeedShape,
  onPage: (note: PageNote) => void,
): AsyncGenerator<ParsedRow[]> {
  const onAnswer = (answer: Record<string, unknown>, line: number) => {
    const note = explain?.(answer) ?? {};
    if (note.error !== undefined) refuse(note.error, line);
    onPage(note);
  };
  if (format === 'JSON' && json !== undefined) {
    return readJsonLists(chunks, {
      name: 'the JSON',
      lists: json,
      areMany: true,
      limits: FEED_LIMITS,
      readNumber: keepDigits,
      onAnswer,
    });
  }
  if (format === 'XML' && xml !== undefined)
    return readXmlRows(chunks, { ...xml, onError: refuse, onAnswer });
  if (format === 'CSV' && csv !== undefined) return readCsvRows(chunks, csv);
  const formats = [json && 'JSON', xml && 'XML', csv && 'CSV'].filter((name) => name);
  const reason = `must be ${formats.join(' or ')}; this looks like ${format}`;
  throw new BrokenFile({ line: 1 }, { field: 'the file', reason });
}

/** Keeps a number with more digits than a double holds as a string, because it may be an id. */
function keepDigits(literal: string): unknown {
  const value = parseDecimal(literal);
  return Number.isFinite(value) ? value : literal;
}

function recognise(text: string): FeedFormat {
  if (text.startsWith('{') || text.startsWith('[')) return 'JSON';
  return text.startsWith('<') ? 'XML' : 'CSV';
}

function refuse(words: string, line: number): never {
  throw new BrokenFile(
    { line },
    { field: 'the file', reason: `is an error response of the network: ${quote(words)}` },
  );
}
