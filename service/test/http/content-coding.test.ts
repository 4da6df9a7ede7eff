import { expect, test } from 'bun:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { zstdDecompressSync } from 'bun';
import { PAGE_BYTES_MAX } from '../../src/domain/page.ts';
import { CODINGS, chooseCoding, compressInThread } from '../../src/http/content/content-coding.ts';

test('pages are compressed unless they are very small or consist of one huge item', () => {
  const sizes = [999, 1_000, PAGE_BYTES_MAX + 100, 8_000_000];
  expect(sizes.map((size) => chooseCoding('gzip', size))).toEqual([undefined, 'gzip', 'gzip', undefined]);
});

test('a coding that the client ranks like "identity" is used, and one that it ranks lower is not', () => {
  const headers = ['gzip;q=0.5, identity;q=0.5', 'gzip;q=0.4, identity;q=0.5'];
  expect(headers.map((header) => chooseCoding(header, 1_000))).toEqual(['gzip', undefined]);
});

test.each(CODINGS)(
  '%s compression off the main thread is lossless for small and large bodies',
  async (coding) => {
    const decompress = { zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync }[coding];
    for (const size of [1_000, 3_000_000]) {
      const bytes = Buffer.from('{"id":"ü"},'.repeat(size / 10));
      expect(Buffer.from(decompress(await compressInThread(coding, bytes, 'fast'))).equals(bytes)).toBeTrue();
    }
  },
);
