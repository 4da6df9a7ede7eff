// Whether a page is missing: never where all are there, always where one is not and its question is known.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { TEST_SEED } from '../../service/test/hostile/seed.ts';
import type { PageNote } from '../src/formats/feed-row.ts';
import { PageCheck } from '../src/formats/page-check.ts';

/** The ways in which networks tell of their pages, for a list with so many rows on each page. */
const TELL = {
  'a number, and whether more follow': (counts: readonly number[]): PageNote[] =>
    counts.map((_, index) => ({ page: index + 1, hasMore: index + 1 < counts.length })),
  'a number, and how many rows there are': (counts: readonly number[]): PageNote[] => {
    const total = counts.reduce((sum, count) => sum + count, 0);
    return counts.map((count, index) => ({ page: index + 1, count, total }));
  },
  'rows with numbers that rise': (counts: readonly number[]): PageNote[] => {
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

function isMissing(notes: readonly PageNote[]): boolean {
  const check = new PageCheck();
  for (const note of notes) check.add(note);
  return check.isPageMissing;
}

test.each(Object.entries(TELL))('%s: files that are complete are never suspected', (_what, tell) => {
  const anyNotes = anyLists.chain((lists) => {
    const notes = lists.flatMap(tell);
    return fc
      .tuple(fc.shuffledSubarray(notes, { minLength: notes.length }), fc.subarray(notes))
      .map(([all, again]) => [...again, ...all]);
  });
  fc.assert(
    fc.property(anyNotes, (notes) => expect(isMissing(notes)).toBe(false)),
    { seed: TEST_SEED },
  );
});

test.each(Object.entries(TELL).slice(0, 2))('%s: no page can be left out', (_what, tell) => {
  const named = (lists: readonly (readonly number[])[]) =>
    lists.flatMap((counts, index) => tell(counts).map((note) => ({ ...note, request: String(index) })));
  fc.assert(
    fc.property(anyLists.map(named), fc.nat(), (notes, at) => {
      const left = notes[at % notes.length];
      const others = notes.filter((note) => note !== left);
      // Of a question whose only page is left out, nothing is known.
      const isKnown = others.some(({ request }) => request === left?.request);
      expect(isMissing(others)).toBe(isKnown);
    }),
    { seed: TEST_SEED },
  );
});

test('pages that are counted from 0', () => {
  const [zero, one, two] = [0, 1, 2].map((page) => ({ page, hasMore: page < 2 })) as PageNote[];
  expect([[zero, one, two], [zero, two], [two]].map((notes) => isMissing(notes as PageNote[]))).toEqual([
    false,
    true,
    true,
  ]);
});

test('an answer that breaks off at its only row does not follow itself', () => {
  const check = new PageCheck();
  check.add({ hasMore: true, rows: { first: 5, last: 5 } });
  expect(check.isPageMissing).toBe(true);
  check.add({ hasMore: false, rows: { first: 6, last: 6 } });
  expect(check.isPageMissing).toBe(false);
});
