import { expect, test } from 'bun:test';
import { JsonPacker } from '../../src/catalogue/build/shared-memory.ts';
import { JSON_CHUNK_BYTES } from '../../src/catalogue/snapshot-data.ts';
import { JsonColumn } from '../../src/catalogue/tables/json-column.ts';
import { PageWriter, writePage } from '../../src/catalogue/tables/page-writer.ts';
import { UuidTable } from '../../src/catalogue/tables/uuid-table.ts';
import { PAGE_BYTES_MAX } from '../../src/domain/page.ts';

function pack(texts: readonly string[]): JsonColumn {
  const packer = new JsonPacker();
  for (const text of texts) packer.add(text);
  return new JsonColumn(packer.build());
}

test('a page of any size contains exactly what was written, and nothing of the previous page', () => {
  const writer = new PageWriter();
  for (const count of [1, 100, 20_000, 1, 0]) {
    const texts = Array.from({ length: count }, (_, number) => `{"é€😀":"${'x'.repeat(number % 700)}"}`);
    const column = pack(texts);
    writer.begin();
    for (const index of texts.keys()) {
      column.write(index, writer);
      writer.add(',');
    }
    expect(new TextDecoder().decode(writer.written)).toBe(texts.map((text) => `${text},`).join(''));
  }
});

test('JSON that spans chunks is read back unchanged, for characters of any byte length', () => {
  const growing = Array.from({ length: 1500 }, (_, length) =>
    ['a', 'é', '€', '😀'].map((text) => text.repeat(length)),
  );
  const texts = [...growing.flat(), 'large '.repeat(JSON_CHUNK_BYTES / 2), 'after', ''];
  const column = pack(texts);
  const writer = new PageWriter();
  for (const [index, text] of texts.entries()) {
    writer.begin();
    column.write(index, writer);
    expect(new TextDecoder('utf-8', { fatal: true }).decode(writer.written)).toBe(text);
  }
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
    const items = { numbers, limit, ids, writeItem, changesAtMs: () => Number.POSITIVE_INFINITY };
    const { bytes, cursor } = writePage(items, bytesMax);
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
