import { expect, test } from 'bun:test';
import { JsonPacker } from '../../src/catalogue/build/shared-memory.ts';
import { JSON_CHUNK_BYTES } from '../../src/catalogue/snapshot-data.ts';
import { JsonColumn } from '../../src/catalogue/tables/json-column.ts';
import { PageWriter } from '../../src/catalogue/tables/page-writer.ts';

function pack(texts: readonly string[]): JsonColumn {
  const packer = new JsonPacker();
  for (const text of texts) packer.add(text);
  return new JsonColumn(packer.build());
}

test('a page holds what was written, however large it is, and nothing of the page before', () => {
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

test('texts come back whole wherever a chunk ends, however many bytes their characters take', () => {
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

test('bytes are left out at the beginning and at the end, also where these lie in different chunks', () => {
  const writer = new PageWriter();
  const text = `,${'x'.repeat(JSON_CHUNK_BYTES)}}`;
  const column = pack([text.slice(7), text]);
  writer.begin();
  column.write(1, writer, 1, 1);
  expect(new TextDecoder().decode(writer.written)).toBe(text.slice(1, -1));
});
