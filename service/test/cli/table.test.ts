// Tables on terminals of any width.

import { expect, test } from 'bun:test';
import { table } from '../../src/cli/output.ts';

const ROWS = [
  { ID: '1', ORG: 'acme', ROWS: '15,668' },
  { ID: '12', ORG: '日本', ROWS: '' },
  { ID: '3', ORG: 'Très Bon', ROWS: '7' },
];

test('columns are aligned by their display width, and numbers are right-aligned', () => {
  expect(table(ROWS).split('\n')).toEqual([
    'ID  ORG         ROWS',
    ' 1  acme      15,668',
    '12  日本',
    ' 3  Très Bon       7',
  ]);
  expect(table(ROWS, '', 20)).toBe(table(ROWS));
});

test('a table that is wider than the terminal is printed as records, without empty fields', () => {
  expect(table(ROWS, '', 19).split('\n')).toEqual([
    ...['ID    1', 'ORG   acme', 'ROWS  15,668', ''],
    ...['ID    12', 'ORG   日本', ''],
    ...['ID    3', 'ORG   Très Bon', 'ROWS  7'],
  ]);
});

test('long values of records are wrapped between words', () => {
  expect(table([{ ID: '1', FOUND: 'all rows are valid' }], '', 16).split('\n')).toEqual([
    'ID     1',
    'FOUND  all rows',
    '       are valid',
  ]);
  // A wide character takes two columns.
  expect(table([{ ID: '1', FOUND: '商品 割引 期間' }], '', 16).split('\n')).toEqual([
    'ID     1',
    'FOUND  商品 割引',
    '       期間',
  ]);
});

test('the last column is wrapped between words if 30 columns are left for it', () => {
  const rows = [
    { CHECK: 'disk', STATE: 'ok', FOUND: '75.7 GB of 270.6 GB are free, and the database has 0.1 GB' },
    { CHECK: 'database', STATE: 'warning', FOUND: `see ${'x'.repeat(40)} there` },
  ];
  expect(table(rows, '', 49).split('\n')).toEqual([
    'CHECK     STATE    FOUND',
    'disk      ok       75.7 GB of 270.6 GB are free,',
    '                   and the database has 0.1 GB',
    'database  warning  see',
    `                   ${'x'.repeat(40)}`,
    '                   there',
  ]);
  expect(table(rows, '', 48).split('\n')[0]).toBe('CHECK  disk');
});

test('a table without rows is the given text', () => {
  expect(table([], 'No imports.', 3)).toBe('No imports.');
});
