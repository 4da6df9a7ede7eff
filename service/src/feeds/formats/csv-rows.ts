// Any CSV with a line of column names: each row becomes an object of texts by those names, without its empty cells.

import { Readable } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';
import { BrokenFile, type FieldProblem } from '../../importer/formats/raw-row.ts';
import { FEED_LIMITS, type FeedRow } from './feed-row.ts';
import { utf8Texts } from './utf8-texts.ts';

export interface CsvRules {
  readonly columns: readonly string[];
  readonly separator?: string | undefined;
}

const BATCH_ROWS = 500;

interface CsvRecord {
  readonly record: readonly string[];
  /** Counted up to and with the last line of the record. */
  readonly info: { readonly lines: number };
}

export async function* readCsvRows(
  chunks: AsyncIterable<Uint8Array>,
  rules: CsvRules,
): AsyncGenerator<FeedRow[]> {
  let columns: readonly string[] | undefined;
  let rows: FeedRow[] = [];
  for await (const { record, info } of records(chunks, rules)) {
    if (columns === undefined) columns = checkHeader(record, rules);
    else rows.push(toRow(record, columns, info.lines));
    if (rows.length < BATCH_ROWS) continue;
    yield rows;
    rows = [];
  }
  yield rows;
}

async function* records(chunks: AsyncIterable<Uint8Array>, rules: CsvRules): AsyncGenerator<CsvRecord> {
  const parser = parse({
    delimiter: rules.separator ?? ',',
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: FEED_LIMITS.bytes,
  });
  const source = Readable.from(utf8Texts(chunks));
  source.on('error', (error) => parser.destroy(error));
  try {
    yield* source.pipe(parser) as AsyncIterable<CsvRecord>;
  } catch (error) {
    throw error instanceof BrokenFile ? error : broken(error as CsvError);
  } finally {
    source.destroy();
  }
}

function broken({ code, lines }: CsvError & { lines?: unknown }): BrokenFile {
  const reason =
    code === 'CSV_MAX_RECORD_SIZE'
      ? 'has a row that is longer than 16 MiB'
      : 'has a quote in the wrong place';
  return new BrokenFile({ line: typeof lines === 'number' ? lines : 1 }, { field: 'the CSV', reason });
}

function checkHeader(header: readonly string[], rules: CsvRules): readonly string[] {
  const columns = header.map((name) => name.trim());
  const fail = (problem: FieldProblem): never => {
    throw new BrokenFile({ line: 1 }, problem);
  };
  const twice = columns.find((name, index) => name !== '' && columns.indexOf(name) !== index);
  if (twice !== undefined) fail({ field: twice, reason: 'is the name of two columns' });
  const missing = rules.columns.filter((name) => !columns.includes(name));
  if (missing.length > 0) {
    const names = missing.map((name) => `"${name}"`).join(', ');
    fail({ field: 'the header', reason: `has no column ${names}` });
  }
  return columns;
}

function toRow(record: readonly string[], columns: readonly string[], line: number): FeedRow {
  // Without a prototype, so that even a column named `__proto__` is a field like any other.
  const value: Record<string, unknown> = Object.create(null);
  for (const [index, name] of columns.entries()) {
    const cell = record[index] ?? '';
    if (cell !== '') value[name] = cell;
  }
  const place = { line };
  if (record.length === columns.length) return { format: 'CSV', place, value };
  const reason = `has ${record.length} ${record.length === 1 ? 'cell' : 'cells'} where the header has ${columns.length}`;
  return { format: 'CSV', place, value, problem: { field: '', reason } };
}
