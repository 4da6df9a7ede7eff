import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { PageWriter, writePage } from '../../src/catalogue/tables/page-writer.ts';
import { TextPool } from '../../src/catalogue/tables/text-pool.ts';
import { UuidTableBuilder } from '../../src/catalogue/tables/uuid-table.ts';
import { PAGE_BYTES_MAX } from '../../src/domain/page.ts';
import { id } from '../support/fixtures.ts';

test('a page holds what was written, however large it is, and nothing of the page before', () => {
  const pool = new TextPool();
  const writer = new PageWriter();
  for (const count of [1, 100, 20_000, 1, 0]) {
    const texts = Array.from({ length: count }, (_, number) => `{"é€😀":"${'x'.repeat(number % 700)}"}`);
    writer.begin();
    for (const text of texts) {
      const { chunk, begin, end } = pool.add(text);
      writer.copy(pool, chunk, begin, end);
      writer.add(',');
    }
    expect(new TextDecoder().decode(writer.written)).toBe(texts.map((text) => `${text},`).join(''));
  }
});

/** The pages of a list of items with these lengths, as the lengths on each of them. */
function walk(lengths: readonly number[], limit: number, bytesMax?: number): number[][] {
  const builder = new UuidTableBuilder();
  lengths.forEach((_, number) => {
    builder.add(Buffer.from(id(number)), 0);
  });
  const ids = builder.build();
  const pages: number[][] = [];
  let from = 0;
  while (true) {
    const numbers = lengths.map((_, number) => number).slice(from, from + limit + 1);
    const { bytes, cursor } = writePage(
      numbers,
      limit,
      ids,
      (number, writer) => writer.add(`"${'x'.repeat((lengths[number] ?? 0) - 2)}"`),
      bytesMax,
    );
    const page = JSON.parse(new TextDecoder().decode(bytes)) as { data: string[]; cursor?: string };
    expect(page.cursor).toBe(cursor);
    pages.push(page.data.map((text) => text.length + 2));
    if (cursor === undefined) return pages;
    from += page.data.length;
    expect<string>(cursor).toBe(id(from));
  }
}

test('a page ends early where the next item would exceed the bytes, and has one item at least', () => {
  const length = fc.oneof(fc.integer({ min: 2, max: 50 }), fc.integer({ min: 2, max: 5_000 }));
  fc.assert(
    fc.property(
      fc.array(length, { maxLength: 60 }),
      fc.integer({ min: 1, max: 70 }),
      fc.integer({ min: 1, max: 10_000 }),
      (lengths, limit, bytesMax) => {
        const pages = walk(lengths, limit, bytesMax);
        expect(pages.flat()).toEqual(lengths);
        pages.forEach((page, index) => {
          const bytes = (items: readonly number[]) => items.reduce((sum, each) => sum + each + 1, -1);
          expect(page.length === limit || bytes(page) <= bytesMax || page.length === 1).toBeTrue();
          // It holds what it can.
          const [next] = pages[index + 1] ?? [];
          expect(page.length === limit || next === undefined || bytes([...page, next]) > bytesMax).toBeTrue();
        });
      },
    ),
  );
});

test('a page of the catalogue has at most 4 MiB unless it is one item', () => {
  const [large, small] = [3 * 1024 * 1024, 1_000];
  expect(walk([small, large, large, PAGE_BYTES_MAX + 1, small, small], 100)).toEqual([
    [small, large],
    [large],
    [PAGE_BYTES_MAX + 1],
    [small, small],
  ]);
});
