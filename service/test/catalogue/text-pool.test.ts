import { expect, test } from 'bun:test';
import { TextPool } from '../../src/catalogue/tables/text-pool.ts';

test('texts come back whole wherever a chunk ends, however many bytes their characters take', () => {
  const pool = new TextPool();
  const largerThanAChunk = 'large '.repeat(400_000);
  const growing = Array.from({ length: 1500 }, (_, length) =>
    ['a', 'é', '€', '😀'].map((text) => text.repeat(length)),
  );
  const texts = [...growing.flat(), largerThanAChunk, 'after'];
  const places = texts.map((text) => pool.add(text));
  expect(places.map(({ chunk, begin, end }) => pool.read(chunk, begin, end))).toEqual(texts);
});
