import { expect, test } from 'bun:test';
import { DocumentPacker } from '../../src/catalogue/build/document-packer.ts';
import { DocumentColumn } from '../../src/catalogue/tables/document-column.ts';
import { PageWriter, writePage } from '../../src/catalogue/tables/page-writer.ts';
import { UuidTable } from '../../src/catalogue/tables/uuid-table.ts';
import { PAGE_BYTES_MAX } from '../../src/domain/page.ts';

test('documents of any length and any characters are read back unchanged, one by one and all together', () => {
  const texts = Array.from({ length: 1500 }, (_, length) =>
    ['a', 'é', '€', '😀'].map((text) => text.repeat(length)),
  ).flat();
  texts.push('large '.repeat(1_000_000), 'after', '');
  const packer = new DocumentPacker(undefined);
  for (const [index, text] of texts.entries()) packer.add(packer.encode(text), index);
  const column = new DocumentColumn(packer.build());
  const writer = new PageWriter();
  for (const [index, text] of texts.entries()) {
    writer.begin();
    column.write(index, writer);
    expect(new TextDecoder('utf-8', { fatal: true }).decode(writer.written)).toBe(text);
    expect(column.text(index)).toBe(text);
  }
  expect(new TextDecoder().decode(column.copyAll())).toBe(texts.join(''));
});

/** Pages through a list of items with these lengths; returns the lengths of the items on each page. */
function walk(lengths: readonly number[], limit: number, bytesMax?: number): number[][] {
  const ids = new UuidTable(Uint32Array.from(lengths.flatMap((_, number) => [0, 0, 0, number])));
  const pages: number[][] = [];
  let from = 0;
  while (true) {
    const numbers = lengths.map((_, number) => number).slice(from, from + limit + 1);
    const writeItem = (number: number, writer: PageWriter) =>
      writer.add(`"${'x'.repeat((lengths[number] ?? 0) - 2)}"`);
    const { bytes, cursor } = writePage({ numbers, limit, ids, writeItem }, bytesMax);
    const page = JSON.parse(new TextDecoder().decode(bytes)) as { data: string[]; cursor?: string };
    expect(page.cursor).toBe(cursor);
    pages.push(page.data.map((text) => text.length + 2));
    if (cursor === undefined) return pages;
    from += page.data.length;
    expect(cursor).toBe(ids.at(from));
  }
}

test('a page ends before an item that would exceed the byte limit, but has at least one item', () => {
  expect(walk([4, 4, 30, 4, 4], 2, 10)).toEqual([[4, 4], [30], [4, 4]]);
  expect(walk([4, 4, 4], 100, 9)).toEqual([[4, 4], [4]]);
});

test('a catalogue page is at most 4 MiB unless it contains a single item', () => {
  const [large, small] = [3 * 1024 * 1024, 1_000];
  expect(walk([small, large, large, PAGE_BYTES_MAX + 1, small, small], 100)).toEqual([
    [small, large],
    [large],
    [PAGE_BYTES_MAX + 1],
    [small, small],
  ]);
});

test('the memory of a page of more than 4 MiB is released before the next page', () => {
  const writer = new PageWriter();
  const held = (bytes: number) => {
    writer.begin();
    writer.add('x'.repeat(bytes));
    return writer.written.buffer.byteLength;
  };
  const [empty, large] = [held(0), held(5 * 2 ** 20)];
  expect(large).toBeGreaterThan(5 * 2 ** 20);
  expect(held(0)).toBe(empty);
});
