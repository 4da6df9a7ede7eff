// Reading the rows of a file: the format is recognised by content, every row has its line, and the result does not depend on
// how the bytes arrive.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { BrokenFile, type RawRow } from '../src/rows/raw-row.ts';
import { readRows } from '../src/rows/read-rows.ts';
import { TRANSACTION_LIMITS } from '../src/rows/row-limits.ts';
import { TRANSACTION_COLUMNS } from '../src/transaction.ts';
import { transaction } from './fixture.ts';

interface Options {
  readonly csv?: boolean;
  readonly ignoreUnknown?: boolean;
}

async function read(chunks: readonly Uint8Array[], options: Options = {}) {
  let cursors = 0;
  let broken: string | undefined;
  const rules = {
    columns: (options.csv ?? true) ? TRANSACTION_COLUMNS : undefined,
    ignoreUnknown: options.ignoreUnknown ?? false,
    limits: TRANSACTION_LIMITS,
    onCursor: () => {
      cursors++;
    },
  };
  const rows: RawRow[] = [];
  try {
    for await (const some of readRows(stream(chunks), rules)) rows.push(...some);
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    const { place, problem } = error;
    broken = `${JSON.stringify(place)} ${problem.field} ${problem.reason}`;
  }
  return { rows, cursors, broken };
}

async function* stream(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

const readText = (text: string, options?: Options) => read([Buffer.from(text)], options);

/** Rows as `[line, item, value]`, with the reason of the problem instead of the value of an invalid row. */
function brief({ rows }: { rows: readonly RawRow[] }) {
  return rows.map(({ place, value, problem }) => [place.line, place.item, problem?.reason ?? value]);
}

const EMPTY = { rows: [], cursors: 0, broken: undefined };
const A = { id: 'a' };
const B = { id: 'b', text: 'say "x": {[\\' };
const OOPS = 'is not JSON (Unexpected identifier "oops")';
const a = JSON.stringify(A);
const b = JSON.stringify(B);

describe('NDJSON', () => {
  test.each<[string, string, ...(readonly [line: number, value: unknown])[]]>([
    ['one row per line, and blank lines are ignored', `${a}\n\n \t\n${b}\n`, [1, A], [4, B]],
    ['Windows line endings and no final newline', `${a}\r\n\r\n${b}`, [1, A], [3, B]],
    ['blank lines and a byte order mark at the start', `\u{feff}\n\n${a}\n`, [3, A]],
    ['a first line that is neither JSON nor a header', `oops\n${a}\n`, [1, OOPS], [2, A]],
  ])('NDJSON may have %s', async (_what, text, ...rows) => {
    expect(brief(await readText(text))).toEqual(
      rows.map(([line, value]) => [line, undefined, value]) as never,
    );
  });

  test.each([
    ['one object', JSON.stringify(A, null, 2)],
    ['several objects', [A, B].map((row) => JSON.stringify(row, null, 2)).join('\n')],
    ['an object that starts on the line of its brace', '{ "id": "a",\r\n  "name": "b"\r\n}'],
  ])('reports pretty-printed JSON once: %s', async (_what, text) => {
    expect(await readText(text)).toEqual({
      rows: [],
      cursors: 0,
      broken:
        '{"line":1} the file looks like pretty-printed JSON, but NDJSON has one object per line; convert the file with jq -c .',
    });
  });

  test('a truncated first line is an invalid row, not pretty-printed JSON', async () => {
    expect(brief(await readText(`{"id":"a",\n${b}\n`))).toEqual([
      [1, undefined, expect.stringMatching(/^is not JSON/)],
      [2, undefined, B],
    ]);
  });

  test('a byte order mark in the middle of a file makes its row invalid', async () => {
    expect(brief(await readText(`${a}\n\u{feff}${b}\n`))[1]?.[2]).toStartWith('is not JSON');
  });
});

describe('a JSON list', () => {
  const COMMA = 'the list needs a comma or a closing bracket here';
  test('a JSON list has a row for each item, with its line in the file', async () => {
    const text = `\n[\r\n  ${JSON.stringify(A, null, 2)},\n\n  ${b}\n]\n\n`;
    expect([brief(await readText(`[${a},${b}]`)), brief(await readText(text))]).toEqual([
      [
        [1, 1, A],
        [1, 2, B],
      ],
      [
        [3, 1, A],
        [7, 2, B],
      ],
    ]);
    expect(brief(await readText('[1\n,true\r\n,\n"x"\n,[\n2]\n,{}]'))).toEqual([
      [1, 1, 1],
      [2, 2, true],
      [4, 3, 'x'],
      [5, 4, [2]],
      [7, 5, {}],
    ]);
  });

  test('a JSON list may be empty', async () => {
    expect(await readText(' [ ] ')).toEqual(EMPTY);
  });

  test('an invalid list item does not affect the other items', async () => {
    expect(brief(await readText(`[${a},{"id":oops},17,nul,"x",[1],${b}]`))).toEqual([
      [1, 1, A],
      [1, 2, OOPS],
      [1, 3, 17],
      [1, 4, 'is not JSON (Unexpected identifier "nul")'],
      [1, 5, 'x'],
      [1, 6, [1]],
      [1, 7, B],
    ]);
  });

  test.each([
    ['a missing comma', `[${a}\n${b}]`, `{"line":2} ${COMMA}`],
    ['a missing comma after a number', '[1 2]', `{"line":1} ${COMMA}`],
    ['a string right after a number', '[1"x"]', `{"line":1} ${COMMA}`],
    ['an object right after a number', '[1{}]', `{"line":1} ${COMMA}`],
    ['two commas', `[${a},\n,${b}]`, '{"line":2} the list needs a value here'],
    ['a comma at the end', `[${a},\n]`, '{"line":2} the list needs a value here'],
    ['a comma at the start', `[,${a}]`, '{"line":1} the list needs a value here'],
    ['no end', `[${a},\n`, '{"line":2} the list is incomplete: it ends too early'],
    [
      'an end inside a row',
      `[${a},\n{"id":"b`,
      '{"line":2,"item":2} the list is incomplete: it ends too early',
    ],
    ['the wrong bracket', `[${a}}`, `{"line":1} ${COMMA}`],
    ['content after its end', `[${a}]\n${b}`, '{"line":2} the list has content after its end'],
    ['a second list', '[]\n[]', '{"line":2} the list has content after its end'],
  ])('a file with %s is rejected', async (_what, text, broken) => {
    expect((await readText(text)).broken).toBe(broken);
  });
});

describe('an envelope', () => {
  test.each([
    ['without a cursor', `{"data":[${a}]}`, 0],
    ['with a cursor', `{"data":[${a}],"cursor":"0192d1a0-0001-7000-8000-000000000001"}`, 1],
    ['with the cursor first', `{"cursor":"0192d1a0-0001-7000-8000-000000000001","data":[${a}]}`, 1],
    ['with a null cursor', `{"data":[${a}],"cursor":null}`, 0],
    ['with white space everywhere', ` { "data" : [ ${a} ] , "cursor" : null } `, 0],
    ['with an escaped key', `{"data":[${a}],"\\u0063ursor":"x"}`, 1],
  ])('an envelope %s is read', async (_what, text, cursors) => {
    const outcome = await readText(text);
    expect(outcome.broken).toBeUndefined();
    expect(brief(outcome)).toEqual([[1, 1, A]]);
    expect(outcome.cursors).toBe(cursors);
  });

  test.each([
    [
      'an unknown field',
      '{"data":[],"total":1}',
      '{"line":1} the list must not have fields other than "data" and "cursor"',
    ],
    ['data that is not a list', '{"data":{}}', '{"line":1} the list must have a list in its field "data"'],
    ['no data', '{"cursor":null}', '{"line":1} the list has no field "data"'],
    ['data twice', '{"data":[],\n"data":[]}', '{"line":2} the list has the field "data" twice'],
    ['no colon', '{"data":[],"cursor"}', '{"line":1} the list needs a colon here'],
    ['no value', '{"data":[],"cursor":}', '{"line":1} the list needs a value here'],
    [
      'a value that is not JSON',
      '{"data":[],"cursor":x}',
      '{"line":1} the list has a field that is not JSON (Unexpected identifier "x")',
    ],
    ['a second cursor', '{"cursor":"x","data":[],"cursor":null}', '{"line":1} the list has a field twice'],
    ['no field name', '{"data":[],}', '{"line":1} the list needs a field name in quotes here'],
    ['no end', '{"data":[]', '{"line":1} the list is incomplete: it ends too early'],
    ['a second envelope', '{"data":[]}\n{"data":[]}', '{"line":2} the list has content after its end'],
  ])('a file with %s is rejected', async (_what, text, broken) => {
    expect((await readText(text)).broken).toBe(broken);
  });

  test('an envelope may have unknown fields with ignoreUnknown', async () => {
    const outcome = await readText(`{"data":[${a}],"meta":{"page":[1,"}"]}}`, { ignoreUnknown: true });
    expect(outcome.broken).toBeUndefined();
    expect(brief(outcome)).toEqual([[1, 1, A]]);
  });
});

describe('CSV', () => {
  test('CSV has a header with wire names; empty cells are absent and amounts are numbers', async () => {
    const text = 'id,orderValue,cashback,passbackUid\n1,79.90,1e2,7\n2,,0,"a ""b"", c"\n';
    expect(brief(await readText(text))).toEqual([
      [2, undefined, { id: '1', orderValue: 79.9, cashback: 100, passbackUid: '7' }],
      [3, undefined, { id: '2', cashback: 0, passbackUid: 'a "b", c' }],
    ]);
  });

  test('a cell that is not a decimal number stays a text', async () => {
    const marks = ['1,5', '+5', '.5', '5.', '--1', '1_000'];
    const cells = [...marks, '05', '1e', ' 5', '5 ', '0x10', 'NaN', 'Infinity', '٥'];
    const { rows } = await readText(`cashback\n${cells.map((cell) => `"${cell}"\n`).join('')}`);
    expect(rows.map(({ value }) => value)).toEqual(cells.map((cashback) => ({ cashback })));
  });

  test('CSV line numbers include lines inside quotes; Windows line endings are accepted and blank lines skipped', async () => {
    const text = 'id,passbackUid\r\n\r\n1,"x\r\ny"\r\n2,z\r\n';
    expect(brief(await readText(text))).toEqual([
      [3, undefined, { id: '1', passbackUid: 'x\r\ny' }],
      [5, undefined, { id: '2', passbackUid: 'z' }],
    ]);
  });

  test.each(['id,passbackUid\r1,x\r2,"y"\r', 'id,passbackUid\r"1",x\r'])(
    'the file %p is rejected because its line endings are bare carriage returns',
    async (text) => {
      const { rows, broken } = await readText(text);
      expect(rows).toEqual([]);
      expect(broken).toBe(
        '{"line":1} the file has bare carriage returns as line endings; save it with Unix or Windows line endings',
      );
    },
  );

  test('a row with too few or too many cells, or a misplaced quote, does not affect other rows', async () => {
    const text = 'id,country\n1\n2,DE,x\n3,D"E\n4,"D"E\n5,D""E\n6,"D"E"\n7,AT\n';
    expect(brief(await readText(text))).toEqual([
      [2, undefined, 'has 1 cell where the header has 2'],
      [3, undefined, 'has 3 cells where the header has 2'],
      [4, undefined, 'has a quote in the wrong place'],
      [5, undefined, 'has a quote in the wrong place'],
      [6, undefined, 'has a quote in the wrong place'],
      [7, undefined, 'has a quote in the wrong place'],
      [8, undefined, { id: '7', country: 'AT' }],
    ]);
  });

  test('bytes that are not UTF-8 invalidate only their own row', async () => {
    const text = Buffer.from('id,passbackUid\n1,k\u{e4}se\n2,\u{e4}\n3,x\n', 'latin1');
    expect(brief(await read([text]))).toEqual([
      [2, undefined, 'is not UTF-8'],
      [3, undefined, 'is not UTF-8'],
      [4, undefined, { id: '3', passbackUid: 'x' }],
    ]);
  });

  test.each([
    ['a column twice', 'id,country,id\n', '{"line":1} id is the name of two columns'],
    ['semicolons', 'id;country\n', '{"line":1} the header must have commas between its columns'],
    ['tabs', 'id\tcountry\n', '{"line":1} the header must have commas between its columns'],
    ['a quote that is never closed', 'id\n1\n"2\n3\n', '{"line":3}  has a quote that is never closed'],
  ])('a file with %s is rejected even with ignoreUnknown', async (_what, text, broken) => {
    expect((await readText(text)).broken).toBe(broken);
    expect((await readText(text, { ignoreUnknown: true })).broken).toBe(broken);
  });

  test('CSV may have unknown columns only with ignoreUnknown, even one named __proto__', async () => {
    expect((await readText('id,colour\n')).broken).toBe('{"line":1} colour is an unknown column');
    const outcome = await readText('id,__proto__\n1,x\n', { ignoreUnknown: true });
    const value = outcome.rows[0]?.value as object;
    expect(Object.entries(value)).toEqual([
      ['id', '1'],
      ['__proto__', 'x'],
    ]);
  });

  test('a catalogue file is never read as CSV', async () => {
    expect(brief(await readText('id\n', { csv: false }))[0]?.[2]).toStartWith('is not JSON');
  });
});

test('an empty file has no rows', async () => {
  expect(await read([])).toEqual(EMPTY);
  expect(await readText('\u{feff}')).toEqual(EMPTY);
  expect(await readText(' \r\n\n')).toEqual(EMPTY);
});

test('rejects UTF-16 text', async () => {
  const utf16 = Buffer.from(`\u{feff}${a}`, 'utf16le');
  expect(brief(await read([utf16]))).toEqual([[1, undefined, 'is not UTF-8']]);
});

describe('the rows do not depend on how the bytes are split into chunks', () => {
  const row = JSON.stringify({ id: 'ä€😀', text: '"\\[{,', deep: [{ x: [] }] });
  const files: [string, Buffer][] = [
    ['NDJSON', Buffer.from(`\u{feff}\r\n${row}\r\noops\n${row}`)],
    ['a list', Buffer.from(`\u{feff} [\n${row} ,\r\n null,12.5 , "x\\"",\n${row}]\n`)],
    ['an envelope', Buffer.from(`{"cursor":"x", "data" : [${row},${row}]}\n`)],
    ['a broken list', Buffer.from(`[${row},\n${row}\n${row}]`)],
    ['CSV', Buffer.from('id,passbackUid\r\n1,"ä ""€"",\r\n😀"\r\n"2",x\r\n3,D"E\r\n4')],
    [
      'bytes that are not UTF-8',
      Buffer.concat([Buffer.from(`${a}\n`), Buffer.from([0xc3, 0x28, 0x0a, 0x80])]),
    ],
  ];

  test.each(files)('%s, split at every position', async (_format, bytes) => {
    const whole = await read([bytes]);
    for (let at = 0; at <= bytes.length; at++) {
      expect(await read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    }
    expect(await read(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(whole);
  });
});

/** Splits the text's bytes at the given positions. */
function cut(text: string, places: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text);
  const edges = [0, ...places.filter((place) => place < bytes.length).sort((x, y) => x - y), bytes.length];
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
}

const places = fc.array(fc.nat(300), { maxLength: 8 });

test('any JSON value is read unchanged, in every format and for any chunking', async () => {
  const forms: Record<string, (values: readonly unknown[]) => string> = {
    'a list': (values) => JSON.stringify(values),
    'a list on many lines': (values) => JSON.stringify(values, null, 2),
    'an envelope': (values) => JSON.stringify({ cursor: null, data: values }),
    // Starts with an object, because a file that starts with a list or an envelope is read as a whole.
    NDJSON: (values) => [{}, ...values].map((value) => JSON.stringify(value)).join('\n'),
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.jsonValue()),
      fc.constantFrom(...Object.entries(forms)),
      places,
      async (values, [name, print], at) => {
        // fast-check generates numbers with more digits than the reader accepts.
        const plain = JSON.parse(JSON.stringify(values), (_, v) =>
          typeof v === 'number' ? (Math.round(v) % 1e6) + 0 : v,
        );
        const outcome = await read(cut(print(plain), at));
        expect(outcome.broken).toBeUndefined();
        expect(outcome.rows.map((row) => row.value)).toEqual(name === 'NDJSON' ? [{}, ...plain] : plain);
      },
    ),
    { numRuns: 150 },
  );
});

test('any table is read unchanged, with the line number of each row, for any quoting and chunking', async () => {
  const cell = fc.record({
    text: fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', 'ä', '😀', ' ') }),
    isQuoted: fc.boolean(),
  });
  const print = ({ text, isQuoted }: { text: string; isQuoted: boolean }) =>
    isQuoted || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(cell, cell), { maxLength: 6 }),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      places,
      async (records, lineEnd, endsWithLine, at) => {
        const lines = records.map((cells) => `${cells.map(print).join(',')}${lineEnd}`);
        const text = `passbackUid,country${lineEnd}${lines.join('')}`;
        let line = 2;
        const expected = records.map(([first, second], index) => {
          const row = {
            line,
            ...(first.text !== '' && { passbackUid: first.text }),
            ...(second.text !== '' && { country: second.text }),
          };
          line += (lines[index] ?? '').split('\n').length - 1;
          return row;
        });
        const outcome = await read(cut(endsWithLine ? text : text.slice(0, -lineEnd.length), at));
        expect(outcome.rows.map(({ place, value }) => ({ line: place.line, ...(value as object) }))).toEqual(
          expected,
        );
      },
    ),
    { numRuns: 150 },
  );
});

test('a transaction in CSV is read like the same transaction in JSON', async () => {
  const wanted = transaction();
  const header = Object.keys(wanted).join(',');
  const cells = Object.values(wanted).map((cell) => (cell === null ? '' : `"${cell}"`));
  const present = Object.fromEntries(Object.entries(wanted).filter(([, cell]) => cell !== null));
  expect(brief(await readText(`${header}\n${cells.join(',')}\n`))).toEqual([[2, undefined, present]]);
});
