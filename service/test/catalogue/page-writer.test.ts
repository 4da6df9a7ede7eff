import { expect, test } from 'bun:test';
import { PageWriter } from '../../src/catalogue/tables/page-writer.ts';
import { TextPool } from '../../src/catalogue/tables/text-pool.ts';

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
