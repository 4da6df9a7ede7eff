import { expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { RETAILER_LIMITS } from '@offerbook/wire/rows/row-limits.ts';
import { ImportRun, mapAhead } from '../../src/importer/import-run.ts';

const RULES = { columns: undefined, limits: RETAILER_LIMITS, onCursor: () => undefined };

/** Number of rows in each batch of a file with the given number and length of rows. */
async function batchSizes(
  rows: number,
  length: number,
  pack: (text: string) => string | Uint8Array = (text) => text,
): Promise<number[]> {
  const row = JSON.stringify({ text: 'x'.repeat(length) });
  const run = new ImportRun(sourceFrom(pack(`${row}\n`.repeat(rows))), {});
  const sizes: number[] = [];
  for await (const batch of run.batches(RULES)) sizes.push(batch.length);
  return sizes;
}

test.each([
  ['uncompressed', undefined],
  ['compressed with gzip', (text: string) => Bun.gzipSync(text)],
  ['compressed with zstd', (text: string) => Bun.zstdCompressSync(text)],
])('with long rows, %s, a batch contains about a megabyte, and no row is lost', async (_, pack) => {
  const sizes = await batchSizes(500, 20_000, pack);
  expect(Math.max(...sizes)).toBeLessThan(100);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(500);
});

test('a read-ahead error is thrown after the preceding batches, and never becomes an unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  async function* source() {
    yield 1;
    yield 2;
    throw new Error('the file is cut short');
  }
  const seen: number[] = [];
  const reading = (async () => {
    for await (const batch of mapAhead(source(), 3, async (n) => n)) {
      seen.push(batch);
      // The database works on this batch while the next one fails.
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  })();
  await expect(reading).rejects.toThrow('the file is cut short');
  process.off('unhandledRejection', note);
  expect([seen, unhandled]).toEqual([[1, 2], []]);
});
