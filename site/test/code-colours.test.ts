import { expect, test } from 'bun:test';
import { colouredCode } from '../src/docs/code-colours.ts';

/** The coloured parts, each with its kind. */
function parts(code: string, language: string): (string | undefined)[][] {
  const found = colouredCode(code, language).text.matchAll(/<span class="code-(\w+)">(.*?)<\/span>/g);
  return [...found].map(([, kind, text]) => [
    kind,
    text?.replaceAll('&quot;', '"').replaceAll('&#x27;', "'"),
  ]);
}

test.each([
  [
    'sh',
    `export A=1 # it's a note\ncurl "$A" $B`,
    [
      ['word', 'export'],
      ['comment', "# it's a note"],
      ['text', '"$A"'],
      ['name', '$B'],
    ],
  ],
  [
    'ts',
    `const url = 'https://x.example'; // "why"\nitem.in(12.5)`,
    [
      ['word', 'const'],
      ['text', "'https://x.example'"],
      ['comment', '// "why"'],
      ['number', '12.5'],
    ],
  ],
  [
    'json',
    '{ "a": "b", "c": [-1e3, null] }',
    [
      ['name', '"a"'],
      ['text', '"b"'],
      ['name', '"c"'],
      ['number', '-1e3'],
      ['word', 'null'],
    ],
  ],
  ['text', 'const "x"', []],
])('%s code is split into strings, comments, numbers and keywords', (language, code, expected) => {
  expect(parts(code, language)).toEqual(expected);
});

test('colours do not change the code, and the code is escaped', () => {
  const code = `if (a < b && c > "d") { return '<b>' } // <i>`;
  const text = colouredCode(code, 'js').text.replaceAll(/<\/?span[^>]*>/g, '');
  expect(text).toBe(Bun.escapeHTML(code));
});
