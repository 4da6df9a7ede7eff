// Recognises the format of an import file by its content, not by its name, and reads its rows.

import { type Columns, looksLikeHeader, looksLikeTable, readCsv } from './csv.ts';
import { readJsonLists } from './json-lists.ts';
import { type NdjsonRules, readNdjson } from './ndjson.ts';
import { peekText } from './peek.ts';
import { BrokenFile, type RawRow } from './raw-row.ts';

export interface FormatRules extends NdjsonRules {
  /** Called if the file is an envelope with a cursor, which means that it is one of several pages. */
  readonly onCursor?: (() => void) | undefined;
  /** Columns of a CSV file. Undefined for a catalogue, because CSV cannot represent its lists. */
  readonly columns: Columns | undefined;
}

interface RowRules extends FormatRules {
  readonly ignoreUnknown: boolean;
}

/**
 * Maximum size of a JSON list, decompressed. A list is often a single line, so line numbers would not help to find a
 * problem in a longer list.
 */
const LIST_BYTES_MAX = 32 * 1024 * 1024;

export async function* readRows(
  chunks: AsyncIterable<Uint8Array>,
  rules: RowRules,
): AsyncGenerator<RawRow[]> {
  const { text, all } = await peekText(chunks);
  const { columns } = rules;
  const isList = text.startsWith('[') || /^\{\s*"(?:data|cursor)"\s*:/.test(text);
  const mistake = findMistake(text, columns === undefined, isList);
  if (mistake !== undefined) throw new BrokenFile({ line: 1 }, { field: 'the file', reason: mistake });
  if (isList) {
    const onResponse = (answer: Record<string, unknown>, line: number) => checkEnvelope(answer, line, rules);
    yield* readJsonLists(withinLimit(all, text.startsWith('[') ? '.[]' : '.data[]'), {
      lists: [['data']],
      areMany: false,
      limits: rules.limits,
      onResponse,
    });
  } else if (columns !== undefined && !text.startsWith('{') && looksLikeHeader(firstLine(text), columns)) {
    yield* readCsv(all, { ...rules, columns });
  } else yield* readNdjson(all, rules);
}

/** Recognises files that are not rows of any kind, or rows of a different kind, which would be one problem per field. */
function findMistake(text: string, isCatalogue: boolean, isList: boolean): string | undefined {
  // PNG, JPEG, GIF, ZIP (also XLSX) and PDF.
  if (/^(?:\uFFFDPNG|\uFFFD{3}|GIF8|PK\p{Cc}|%PDF)/u.test(text))
    return 'is not a text file; it must be NDJSON, a JSON list or CSV';
  const line = firstLine(text);
  if (isCatalogue && /^\{.*"template"\s*:/.test(line) && !line.includes('"hostname"'))
    return 'looks like links; import it with offerbook import links';
  if (isList) return undefined;
  if (looksPrettyPrinted(text))
    return 'looks like pretty-printed JSON, but NDJSON has one object per line; convert the file with jq -c .';
  return isCatalogue && looksLikeTable(text)
    ? 'must be NDJSON, with a retailer on each line, or a JSON list of retailers; this looks like CSV'
    : undefined;
}

/** True if the first line begins an object and the second line continues it with a field name. */
function looksPrettyPrinted(text: string): boolean {
  if (!/^\{[^\n]*\n\s*"/.test(text)) return false;
  try {
    JSON.parse(firstLine(text));
    return false;
  } catch {
    return true;
  }
}

/** `rows` is the jq filter that selects the rows. */
async function* withinLimit(chunks: AsyncIterable<Uint8Array>, rows: string): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > LIST_BYTES_MAX) {
      const reason = `is longer than ${LIST_BYTES_MAX / 2 ** 20} MiB; write it as NDJSON, which can have any length, for example with jq -c '${rows}'`;
      throw new BrokenFile({ line: 1 }, { field: 'the list', reason });
    }
    yield chunk;
  }
}

function checkEnvelope(answer: Record<string, unknown>, line: number, rules: RowRules): void {
  const { data, cursor, ...others } = answer;
  const fail = (reason: string): never => {
    throw new BrokenFile({ line }, { field: 'the list', reason });
  };
  if (data === undefined) fail('has no field "data"');
  if (!Array.isArray(data)) fail('must have a list in its field "data"');
  if (Object.keys(others).length > 0 && !rules.ignoreUnknown)
    fail('must not have fields other than "data" and "cursor"');
  if (cursor !== undefined && cursor !== null) rules.onCursor?.();
}

function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? '';
}
