import { expect, test } from 'bun:test';
import { PAGE_BYTES_MAX } from '../../src/domain/page.ts';
import { chooseCoding } from '../../src/http/content/content-coding.ts';

test('pages are compressed unless they are very small or consist of one huge item', () => {
  const sizes = [999, 1_000, PAGE_BYTES_MAX + 100, 8_000_000];
  expect(sizes.map((size) => chooseCoding('gzip', size))).toEqual([undefined, 'gzip', 'gzip', undefined]);
});

test('a coding that the client ranks like "identity" is used, and one that it ranks lower is not', () => {
  const headers = ['gzip;q=0.5, identity;q=0.5', 'gzip;q=0.4, identity;q=0.5'];
  expect(headers.map((header) => chooseCoding(header, 1_000))).toEqual(['gzip', undefined]);
});
