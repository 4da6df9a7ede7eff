import { expect, test } from 'bun:test';
import { findEntries, type SearchEntry } from '../src/browser/reference/find-entries.ts';

const entry = (heading: string, page: string, text: string): SearchEntry => ({
  url: heading,
  page,
  heading,
  text,
});
const ENTRIES = [
  entry('Caching', 'Limits', 'The ETag of a page, and Complete-Through'),
  entry('The contract', 'Polling', 'Keep the smallest Complete-Through'),
  entry('Complete-Through', 'Polling', 'A header'),
];

test.each([
  ['complete-through', ['Complete-Through', 'Caching', 'The contract']],
  ['ÉTAG page', ['Caching']],
  ['polling smallest', ['The contract']],
  ['smallest etag', []],
  ['.*', []],
  ['   ', []],
])('%s: an entry must contain every word, and headings rank first', (query, found) => {
  expect(findEntries(ENTRIES, query).map(({ heading }) => heading)).toEqual(found);
});
