// PageCheck never reports a complete set of pages, and reports a missing page if another page of the same query is present.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { PageInfo } from '../src/formats/feed-row.ts';
import { PageCheck } from '../src/formats/page-check.ts';
import { TEST_SEED } from './seed.ts';

/** How networks describe their pages, as functions of the number of rows on each page. */
const FORMATS = {
  'page numbers and a flag for more pages': (counts: readonly number[]): PageInfo[] =>
    counts.map((_, index) => ({ page: index + 1, hasMore: index + 1 < counts.length })),
  'page numbers and a total row count': (counts: readonly number[]): PageInfo[] => {
    const total = counts.reduce((sum, count) => sum + count, 0);
    return counts.map((count, index) => ({ page: index + 1, count, total }));
  },
  'ascending row numbers': (counts: readonly number[]): PageInfo[] => {
    let last = 0;
    return counts.map((count, index) => {
      const first = last + 1;
      last += count;
      return { hasMore: index + 1 < counts.length, rows: { first, last } };
    });
  },
};

const anyCounts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 });
const anyLists = fc.array(anyCounts, { minLength: 1, maxLength: 3 });

function isMissing(notes: readonly PageInfo[]): boolean {
  const check = new PageCheck();
  for (const note of notes) check.add(note);
  return check.isPageMissing;
}

test.each(Object.entries(FORMATS))(
  'with %s, no page is reported missing from complete files',
  (_what, describePages) => {
    const anyNotes = anyLists.chain((lists) => {
      const notes = lists.flatMap(describePages);
      return fc
        .tuple(fc.shuffledSubarray(notes, { minLength: notes.length }), fc.subarray(notes))
        .map(([all, again]) => [...again, ...all]);
    });
    fc.assert(
      fc.property(anyNotes, (notes) => expect(isMissing(notes)).toBe(false)),
      { seed: TEST_SEED },
    );
  },
);

test.each(Object.entries(FORMATS).slice(0, 2))(
  'with %s, every omitted page is detected',
  (_what, describePages) => {
    const named = (lists: readonly (readonly number[])[]) =>
      lists.flatMap((counts, index) =>
        describePages(counts).map((note) => ({ ...note, request: String(index) })),
      );
    fc.assert(
      fc.property(anyLists.map(named), fc.nat(), (notes, at) => {
        const left = notes[at % notes.length];
        const others = notes.filter((note) => note !== left);
        // A query whose only page is left out cannot be detected.
        const isKnown = others.some(({ request }) => request === left?.request);
        expect(isMissing(others)).toBe(isKnown);
      }),
      { seed: TEST_SEED },
    );
  },
);

test('detects a missing page when page numbers start at 0', () => {
  const [zero, one, two] = [0, 1, 2].map((page) => ({ page, hasMore: page < 2 })) as PageInfo[];
  expect([[zero, one, two], [zero, two], [two]].map((notes) => isMissing(notes as PageInfo[]))).toEqual([
    false,
    true,
    true,
  ]);
});

test('a one-row page that announces more rows is not mistaken for its own next page', () => {
  const check = new PageCheck();
  check.add({ hasMore: true, rows: { first: 5, last: 5 } });
  expect(check.isPageMissing).toBe(true);
  check.add({ hasMore: false, rows: { first: 6, last: 6 } });
  expect(check.isPageMissing).toBe(false);
});
