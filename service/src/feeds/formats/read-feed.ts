// Tells the format of a network's file by its first bytes, never by its name, and reads its rows.

import { readNdjson } from '../../importer/formats/ndjson.ts';
import { peek } from '../../importer/formats/peek.ts';
import { BrokenFile } from '../../importer/formats/raw-row.ts';
import { withoutByteOrderMark } from '../../importer/formats/read-rows.ts';
import { isObject, quote } from '../fields.ts';
import { readCsvRows } from './csv-rows.ts';
import type { FeedFormat, FeedRow, FeedShape, PageNote } from './feed-row.ts';
import { readJsonAnswers } from './json-answers.ts';
import { readXmlRows } from './xml-rows.ts';

/** Enough for the byte order mark, some blank lines, and a first row on a line of its own. */
const HEAD_BYTES = 65_536;

export async function* readFeed(
  chunks: AsyncIterable<Uint8Array>,
  shape: FeedShape,
  onPage: (note: PageNote) => void,
): AsyncGenerator<FeedRow[]> {
  const { head, all } = await peek(chunks, HEAD_BYTES);
  const text = new TextDecoder()
    .decode(head)
    .replace(/^\ufeff/, '')
    .trimStart();
  // Networks answer with an empty list where there is nothing; this is a download that failed.
  if (text === '') throw new BrokenFile({ line: 1 }, { field: 'the file', reason: 'is empty' });
  const format = recognise(text);
  if (format === 'JSON' && shape.json !== undefined)
    yield* readJson(withoutByteOrderMark(all), text, shape.json, onPage);
  else if (format === 'XML' && shape.xml !== undefined)
    yield* readXmlRows(all, { ...shape.xml, onError: refuse });
  else if (format === 'CSV' && shape.csv !== undefined) yield* readCsvRows(all, shape.csv);
  else throw wrongFormat(format, shape);
}

function recognise(text: string): FeedFormat {
  if (text.startsWith('{') || text.startsWith('[')) return 'JSON';
  return text.startsWith('<') ? 'XML' : 'CSV';
}

async function* readJson(
  chunks: AsyncIterable<Uint8Array>,
  head: string,
  { lists, explain }: NonNullable<FeedShape['json']>,
  onPage: (note: PageNote) => void,
): AsyncGenerator<FeedRow[]> {
  if (beginsWithRow(head, lists, explain)) {
    for await (const rows of readNdjson(chunks)) yield rows.map((row) => ({ ...row, format: 'JSON' }));
    return;
  }
  yield* readJsonAnswers(chunks, {
    lists,
    onAnswer(answer, line) {
      const note = explain?.(answer) ?? {};
      if (note.error !== undefined) refuse(note.error, line);
      onPage(note);
    },
  });
}

/** Whether the first line is a whole row, as in NDJSON, which is read faster as such. */
function beginsWithRow(
  head: string,
  lists: readonly (readonly string[])[],
  explain: NonNullable<FeedShape['json']>['explain'],
): boolean {
  const end = head.indexOf('\n');
  if (!head.startsWith('{') || end === -1) return false;
  try {
    const value: unknown = JSON.parse(head.slice(0, end));
    if (!isObject(value) || explain?.(value).error !== undefined) return false;
    return !lists.some(([name]) => name !== undefined && Object.hasOwn(value, name));
  } catch {
    return false;
  }
}

function refuse(words: string, line: number): never {
  throw new BrokenFile(
    { line },
    { field: 'the file', reason: `holds an error that the network answered with: ${quote(words)}` },
  );
}

function wrongFormat(format: FeedFormat, shape: FeedShape): BrokenFile {
  const formats = [shape.json && 'JSON', shape.xml && 'XML', shape.csv && 'CSV'].filter((name) => name);
  const reason = `must be ${formats.join(' or ')}; this looks like ${format}`;
  return new BrokenFile({ line: 1 }, { field: 'the file', reason });
}
