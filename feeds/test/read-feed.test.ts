// File formats of networks: JSON responses in every form that curl writes, hostile XML, and CSV. Broken files are rejected
// with the line of the problem.

import { describe, expect, test } from 'bun:test';
import { BrokenFile } from '@offerbook/wire/rows/raw-row.ts';
import fc from 'fast-check';
import type { Fields } from '../src/fields.ts';
import type { FeedRow, FeedShape, PageInfo } from '../src/formats/feed-row.ts';
import { readFeed } from '../src/formats/read-feed.ts';
import { TEST_SEED } from './seed.ts';

const SHAPE: FeedShape = {
  json: [['Actions'], ['data', 'found', 'records']],
  readPageInfo: (response) => ({
    error: response.findText('error'),
    page: response.findWholeNumber('page'),
  }),
  xml: { row: ['api', 'links', 'link'], errorElement: 'error-message' },
  csv: { columns: ['id'] },
};

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(content: string | Uint8Array, size = 1 << 18, shape = SHAPE) {
  const rows: FeedRow[] = [];
  const notes: PageInfo[] = [];
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  for await (const some of readFeed(pieces(bytes, size), shape, (note) => notes.push(note)))
    rows.push(...some);
  return { rows, notes };
}

/** Line, item (in lists only) and value of each row, such as `2/1 {"id":7}`. */
async function rowsOf(content: string, size?: number): Promise<string[]> {
  const { rows } = await read(content, size);
  return rows.map(({ place, value }) => {
    const item = place.item === undefined ? '' : `/${place.item}`;
    return `${place.line}${item} ${JSON.stringify(value)}`;
  });
}

async function problemOf(content: string | Uint8Array, shape = SHAPE): Promise<string> {
  const error = await read(content, undefined, shape).catch((reason: unknown) => reason);
  if (!(error instanceof BrokenFile)) throw error;
  return `line ${error.place.line}: ${error.problem.field} ${error.problem.reason}`;
}

describe('JSON', () => {
  const pretty = JSON.stringify({ page: 1, Actions: [{ id: 1 }, { id: 2 }], total: 2 }, null, 1);

  test.each([
    ['a bare list', '[{"id":1},\n{"id":2}]', ['1/1 {"id":1}', '2/2 {"id":2}']],
    ['an envelope', '{"page":1,"Actions":[{"id":1},{"id":2}]}', ['1/1 {"id":1}', '1/2 {"id":2}']],
    ['an envelope over many lines', pretty, ['4/1 {"id":1}', '7/2 {"id":2}']],
    ['envelopes in envelopes', '{"data":{"n":1,"found":{"records":[{"id":1}],"n":2}}}', ['1/1 {"id":1}']],
    ['a row on each line', '{"id":1}\n\n{"id":2}\r\n', ['1 {"id":1}', '3 {"id":2}']],
    [
      'several responses',
      '{"Actions":[{"id":1}]}{"Actions":[]}\n[{"id":2}] [{"id":3}]\n{"id":4}',
      ['1/1 {"id":1}', '2/2 {"id":2}', '2/3 {"id":3}', '3 {"id":4}'],
    ],
    [
      'a list of responses',
      '[{"Actions":[{"id":1}]},{"Actions":[{"id":2}]}]',
      ['1/1 {"id":1}', '1/2 {"id":2}'],
    ],
    ['an empty list', '[]', []],
    ['a byte order mark', '\ufeff[{"id":1}]', ['1/1 {"id":1}']],
    [
      'a number too long for a double',
      '[{"id":12345678901234567890}]',
      ['1/1 {"id":"12345678901234567890"}'],
    ],
  ])('%s', async (_name, text, expected) => {
    expect(await rowsOf(text)).toEqual(expected);
    expect(await rowsOf(text, 1)).toEqual(expected);
  });

  test.each([1, 5, 13, 1000])(
    'an invalid row does not affect other rows, in chunks of %i bytes',
    async (size) => {
      const twice = 'appears twice in the same object';
      const rows = ['{"id":1,\n"a":2,\n"id":3}', '{"id":}', '{"a":{"b":1,"b":2}}', '{"a":"Actions","a":1}'];
      const found = await read(`${rows.join('\n')}\n{"id":4}`, size);
      expect(
        found.rows.map(({ place, value, problem }) => [place.line, value, problem?.field, problem?.reason]),
      ).toEqual([
        [1, undefined, 'id', twice],
        [4, undefined, '', expect.stringMatching(/^is not JSON/)],
        [5, undefined, 'b', twice],
        [6, undefined, 'a', twice],
        [7, { id: 4 }, undefined, undefined],
      ]);
    },
  );

  test('passes the first row of a response to readPageInfo, wherever the chunks end', async () => {
    const responses: unknown[] = [];
    const readPageInfo = (response: Fields) => {
      responses.push({ ...(response.find('') as object) });
      return {};
    };
    const shape = { ...SHAPE, json: [['Actions']], readPageInfo };
    const text = '{"Actions":[{"id":1},{"id":2}],"n":1}\n{"n":2,"Actions":[]}';
    await read(text, 1, shape);
    expect(responses).toEqual([
      { Actions: [{ id: 1 }], n: 1 },
      { Actions: [], n: 2 },
    ]);
  });

  test.each([
    ['{"error":"invalid_token"}', 'line 1: the file is an error response from the network: "invalid_token"'],
    ['', 'line 1: the file is empty'],
    ['[{"id":1},\n{"id":2}', 'line 2: the JSON is incomplete: it ends too early'],
    ['[{"id":1}\n,]', 'line 2: the JSON needs a value here'],
    ['[{"id":1}] x', 'line 1: the JSON must be JSON lists or objects'],
  ])('%p is rejected as broken', async (text, words) => {
    expect(await problemOf(text)).toBe(words);
  });

  test('the rows do not depend on where the input is split into chunks', async () => {
    const anyRow = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.constant(null),
      fc.dictionary(fc.string(), fc.array(fc.string({ unit: 'binary' }))),
    );
    const any = fc.array(fc.array(anyRow, { maxLength: 4 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(any, fc.integer({ min: 1, max: 40 }), fc.boolean(), async (lists, size, isPretty) => {
        const text = lists
          .map((Actions) => JSON.stringify({ a: [1], Actions, b: { Actions: [9] } }, null, isPretty ? 1 : 0))
          .join('\n');
        if (text === '') return;
        const split = await read(text, size);
        expect(split.rows.map((row) => row.value)).toEqual(JSON.parse(JSON.stringify(lists.flat())));
        expect(split).toEqual(await read(text));
      }),
      { numRuns: 50, seed: TEST_SEED },
    );
  });
});

describe('XML', () => {
  const MIB = 2 ** 20;
  /** A sixteenth of the real limits, which takes a sixteenth of the time. */
  const LIMITED: FeedShape = { ...SHAPE, limits: { bytes: MIB, values: 60_000, names: 1_000, depth: 64 } };
  const page = (inside: string) => `<api><links total="1">${inside}</links></api>`;

  test.each([
    [
      'children, attributes, lists',
      page('<link type="T"><id>1</id><a x="2">t</a><c>1</c><c>2</c><e/></link>'),
      ['1/1 {"@type":"T","id":"1","a":{"@x":"2","#text":"t"},"c":["1","2"],"e":""}'],
    ],
    [
      'several documents',
      `<?xml version="1.0" encoding="UTF-8"?>\n${page('<link><id>1</id></link>')}\n<?xml version="1.0"?>${page('<link><id>2</id></link>')}`,
      ['2/1 {"id":"1"}', '3/2 {"id":"2"}'],
    ],
    [
      'entities and CDATA',
      page('<link><id>1 &amp; &#65;<![CDATA[<b>]]></id></link>'),
      ['1/1 {"id":"1 & A<b>"}'],
    ],
    [
      'names of JavaScript',
      page('<link><__proto__>1</__proto__><constructor>2</constructor></link>'),
      ['1/1 {"__proto__":"1","constructor":"2"}'],
    ],
    ['no rows', page(''), []],
  ])('%s', async (_name, text, expected) => {
    expect(await rowsOf(text)).toEqual(expected);
    expect(await rowsOf(text, 3)).toEqual(expected);
  });

  test.each([
    [
      '<api><error-message>Not authenticated</error-message></api>',
      'line 1: the file is an error response from the network: "Not authenticated"',
    ],
    ['<html><body/></html>', 'line 1: the XML must start with <api>, not with "html"'],
    ['<api><links>\n<link>', 'line 2: the XML is broken: unclosed tag: link'],
    ['<api><links></api></links>', 'line 1: the XML is broken: unexpected close tag.'],
    ['<api>&nbsp;</api>', 'line 1: the XML is broken: undefined entity.'],
    ['<api a="1" a="2"/>', 'line 1: the XML is broken: attribute "a" appears twice'],
    ['<api><links/></api>x', 'line 1: the XML has text outside its elements'],
    [
      '<?xml version="1.0" encoding="ISO-8859-1"?><api/>',
      'line 1: the XML must be UTF-8, but declares "ISO-8859-1"',
    ],
    ['<api/>', 'line 1: the XML has no <links> element with rows'],
    ['<api><x><link/></x></api>', 'line 1: the XML has no <links> element with rows'],
    ['<api><links/></api>\n<api/>', 'line 2: the XML has no <links> element with rows'],
    ['<!-- nothing -->', 'line 1: the XML has no element'],
  ])('%p is rejected as broken', async (text, words) => {
    expect(await problemOf(text)).toBe(words);
  });

  test('passes the other fields of a response to readPageInfo', async () => {
    const responses: unknown[] = [];
    const readPageInfo = (response: Fields) => {
      responses.push({ ...(response.find('') as object) });
      return { page: 7 };
    };
    const text = `<api><a>0</a><links page="1"><n>2</n>\n<link><n>3</n></link><m><n>4</n></m><n>5</n><e/></links></api><api><links/></api>`;
    const { rows, notes } = await read(text, 3, { ...SHAPE, readPageInfo });
    expect([rows.length, responses, notes]).toEqual([
      1,
      [{ '@page': '1', n: ['2', '5'], e: '' }, {}],
      [{ page: 7 }, { page: 7 }],
    ]);
  });

  test('rejects document type declarations, so entities cannot expand or read files', async () => {
    const bomb =
      '<!DOCTYPE api [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><api><links><link><id>&b;</id></link></links></api>';
    const outside = '<!DOCTYPE api [<!ENTITY a SYSTEM "file:///etc/passwd">]><api>&a;</api>';
    for (const text of [bomb, outside]) {
      expect(await problemOf(text)).toBe(
        'line 1: the XML is broken: inappropriately located doctype declaration.',
      );
    }
  });

  const names = (part: (name: string) => string) => (index: number) => part(`n${index}`);
  const text = (part: string) => () => part.repeat(500);
  const LONG = 'longer than 1 MiB';
  const NAMES = 'has more than 1,000 distinct field names';
  const VALUES = 'has more than 60,000 values';
  const ROW = '<api><links><link>';

  /** Reads an endless document, up to 4 MiB; returns the bytes read until it is rejected, and the reason. */
  async function readEndless(head: string, part: (index: number) => string) {
    let bytes = 0;
    async function* chunks() {
      yield new TextEncoder().encode(head);
      for (let index = 0; bytes < 4 * MIB; ) {
        let chunk = '';
        while (chunk.length < 40_000) chunk += part(index++);
        bytes += chunk.length;
        yield new TextEncoder().encode(chunk);
      }
    }
    const work = async () => {
      for await (const _ of readFeed(chunks(), LIMITED, () => undefined));
    };
    const error = await work().catch((reason: unknown) => reason);
    if (!(error instanceof BrokenFile)) throw error;
    return { bytes, reason: error.problem.reason };
  }

  test.each<[string, string, (index: number) => string, string, number]>([
    ['the text of a row', '<api><links><link><id>', text('x'), `is ${LONG}`, 1],
    ['texts of a row', '<api><links><link><id>', text(`${'x'.repeat(60)}<b/>`), `is ${LONG}`, 1.15],
    ['blanks between rows', '<api><links>', text(' '), `is ${LONG}`, 1],
    ['the name of an element', '<api><links><', text('x'), `is ${LONG}`, 1],
    ['the name of an element that closes', '<api><links></', text('x'), `is ${LONG}`, 1],
    ['the name of an attribute', '<api><links><link ', text('x'), `is ${LONG}`, 1],
    ['an attribute of a row', '<api><links><link x="', text('x'), `is ${LONG}`, 1],
    ['an attribute outside the rows', '<api x="', text('x'), `is ${LONG}`, 1],
    ['attributes of a tag', '<api><links><link', names((name) => ` ${name}="1"`), NAMES, 0],
    [
      'long attributes of a tag',
      '<api><links><link',
      names((name) => ` ${name}="${'x'.repeat(30_000)}"`),
      `is ${LONG}`,
      1,
    ],
    ['blanks in a tag', '<api><links><link', text(' '), `is ${LONG}`, 1],
    ['a comment', '<!--', text('x'), `is ${LONG}`, 1],
    ['a comment in a row', '<api><links><link><!--', text('x'), `is ${LONG}`, 1],
    ['a CDATA section', '<api><links><link><id><![CDATA[', text(']'), `is ${LONG}`, 1],
    ['a processing instruction', '<api><?x ', text('x'), `is ${LONG}`, 1],
    ['the name of a processing instruction', '<api><?', text('x'), `is ${LONG}`, 1],
    ['elements of a row', ROW, text('<a/>'), VALUES, 0.25],
    ['attributes of elements of a row', ROW, text('<a b=""/>'), VALUES, 0.3],
    ['names of elements of a row', ROW, names((name) => `<${name}/>`), NAMES, 0],
    ['elements outside the rows', '<api><links>', text('<a/>'), VALUES, 0.25],
    ['names of elements outside the rows', '<api><links>', names((name) => `<${name}/>`), NAMES, 0],
    ['nested elements', ROW, text('<a>'), 'is nested more than 64 levels deep', 0],
    ['texts outside the rows', '<api><links><x>', text(`${'x'.repeat(60)}<b/>`), `is ${LONG}`, 1.15],
    ['an entity', '<api><links><link>&', text('x'), `is ${LONG}`, 1],
  ])('rejects %s without an end at the row limit', async (_what, head, part, reason, mibMax) => {
    const found = await readEndless(head, part);
    expect(found.reason).toBe(reason);
    expect(found.bytes).toBeLessThan(mibMax * MIB + 200_000);
  });

  test('a file can contain any number of rows, comments and white space', async () => {
    const row = `<link a="1">\n<!-- c --><?p i?><id>${'x'.repeat(MIB / 8)}</id></link>`;
    const { rows } = await read(page(row.repeat(18)), undefined, LIMITED);
    expect(rows).toHaveLength(18);
    const blanks = `<link/><!-- c -->${' '.repeat(1000)}`;
    expect((await read(page(blanks.repeat(2_000)), undefined, LIMITED)).rows).toHaveLength(2_000);
  });

  test('counts the size of everything outside the rows separately for each document', async () => {
    const beside = (from: number) =>
      page(Array.from({ length: 600 }, (_, index) => `<n${from + index}/>`).join(''));
    const { rows } = await read(`${beside(0)}${beside(600)}${page('<link/>')}`);
    expect(rows).toHaveLength(1);
  });

  test('accepts a row of exactly the maximum length, and rejects a longer one', async () => {
    const row = (length: number) => page(`<link><id>${'x'.repeat(length)}</id></link>`);
    // The names of the two elements also count.
    const longest = MIB - 'linkid'.length;
    expect((await read(row(longest), undefined, LIMITED)).rows).toHaveLength(1);
    expect(await problemOf(row(longest + 1), LIMITED)).toBe('line 1: the XML is longer than 1 MiB');
    expect(await problemOf(row(16 * MIB))).toBe('line 1: the XML is longer than 16 MiB');
  });

  test('truncates a long name in the error message', async () => {
    const words = await problemOf(page(`<${'x'.repeat(MIB)}>`));
    expect(words).toBe('line 1: the XML is broken: unexpected close tag.');
    expect(await problemOf(`<api><${'x'.repeat(MIB)}>`)).toBe(
      `line 1: the XML is broken: unclosed tag: ${'x'.repeat(66)}…`,
    );
  });
});

describe('CSV', () => {
  test('accepts quotes, empty cells, empty lines, Windows line endings and a byte order mark', async () => {
    const text = '\ufeffid, name ,x\r\n1,"a ""b""\nc",\r\n\r\n2,,3\r\n';
    expect(await rowsOf(text)).toEqual(['2 {"id":"1","name":"a \\"b\\"\\nc"}', '5 {"id":"2","x":"3"}']);
  });

  test.each([
    [';', Buffer.from('id;x\n1;"a;\nb"\n2;c,d\n')],
    ['\u{a6}', Buffer.from('id\u{a6}x\n1\u{a6}"a\u{a6}\nb"\n2\u{a6}c,d\n')],
  ])('reads cells separated by %p', async (separator, bytes) => {
    const { rows } = await read(bytes, 3, { csv: { columns: ['x'], separator } });
    expect(rows.map(({ place, value, problem }) => [place.line, problem, value])).toEqual([
      [2, undefined, { id: '1', x: `a${separator}\nb` }],
      [4, undefined, { id: '2', x: 'c,d' }],
    ]);
  });

  test.each([
    ['name\n1\n', 'line 1: the header has no column "id"'],
    ['id,id\n1,2\n', 'line 1: id is the name of two columns'],
  ])('%p is rejected as broken', async (text, words) => {
    expect(await problemOf(text)).toBe(words);
  });
});

test('rejects a format that the network does not send', async () => {
  expect(await problemOf('<api/>', { json: [], csv: { columns: [] } })).toBe(
    'line 1: the file must be JSON or CSV, but looks like XML',
  );
});

test.each([
  [
    'XML',
    '<api><links>\n<link><id>\xe9 </id></link></links></api>',
    /^line \d: the text is not valid UTF-8 near this line$/,
  ],
  ['CSV', 'id,x\n1,2\n3,\xe9\n', /^line 3: the text is not UTF-8$/],
])('rejects %s that is not UTF-8 instead of replacing characters', async (_format, text, words) => {
  expect(await problemOf(Buffer.from(text, 'latin1'))).toMatch(words);
});
