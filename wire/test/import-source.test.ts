// Import sources, compressed or not, and a clear error message for each way in which reading one can fail.

import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { BadInput } from '../src/failures.ts';
import { type ImportSource, openSource, sourceFrom } from '../src/rows/import-source.ts';

const folder = mkdtempSync(join(tmpdir(), 'offerbook-test-'));
afterAll(() => rmSync(folder, { recursive: true }));
const TEXT = Array.from({ length: 40_000 }, (_, n) => `row ${n} ${(n * 7919) % 10007}\n`).join('');

async function textOf(source: ImportSource): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function fileOf(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function complaint(run: Promise<unknown>): Promise<string> {
  const error = await run.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(BadInput);
  return (error as BadInput).message;
}

const PACKED: ['gzip' | 'zstd', Buffer][] = [
  ['gzip', gzipSync(TEXT)],
  ['zstd', zstdCompressSync(TEXT, { params: { [constants.ZSTD_c_checksumFlag]: 1 } })],
];

test('reads a whole file and reports progress', async () => {
  const source = await openSource(fileOf('plain.ndjson', TEXT));
  expect(source.bytesTotal).toBe(TEXT.length);
  expect(source.bytesRead).toBe(0);
  expect(await textOf(source)).toBe(TEXT);
  expect(source.bytesRead).toBe(TEXT.length);
});

test('reads an empty file as an empty string', async () => {
  expect(await textOf(await openSource(fileOf('empty', '')))).toBe('');
});

describe.each(PACKED)('%s compression', (format, packed) => {
  test('a compressed file is decompressed regardless of its name, and progress counts compressed bytes', async () => {
    const source = await openSource(fileOf(`${format}.json`, packed));
    expect(await textOf(source)).toBe(TEXT);
    expect(source.bytesTotal).toBe(packed.length);
    expect(source.bytesRead).toBe(packed.length);
  });

  test('a compressed stream is decompressed even if it delivers one byte at a time', async () => {
    const small = format === 'gzip' ? gzipSync('hello') : zstdCompressSync('hello');
    async function* bytes() {
      for (const byte of small) yield Uint8Array.of(byte);
    }
    expect(await textOf(sourceFrom(bytes()))).toBe('hello');
  });

  test('a compressed file may consist of several concatenated parts', async () => {
    expect(await textOf(sourceFrom(Buffer.concat([packed, packed])))).toBe(TEXT + TEXT);
  });

  test.each([
    ['missing its last byte', packed.subarray(0, -1)],
    ['cut in half', packed.subarray(0, packed.length / 2)],
    ['cut after its first bytes', packed.subarray(0, 5)],
    ['corrupted', packed.with(packed.length >> 1, (packed[packed.length >> 1] ?? 0) ^ 0xff)],
    ['followed by other data', Buffer.concat([packed, Buffer.from('and more')])],
  ])('a compressed file is rejected if it is %s', async (_what, damaged) => {
    const path = fileOf('damaged', damaged);
    expect(await complaint(openSource(path).then(textOf))).toBe(
      `${path} cannot be decompressed: its ${format} data is damaged or truncated`,
    );
  });
});

test('a plain text file is not decompressed, even if it is named .gz', async () => {
  expect(await textOf(await openSource(fileOf('plain.gz', TEXT)))).toBe(TEXT);
});

test('the error for a missing file contains its path', async () => {
  expect(await complaint(openSource('/no/such/file.json'))).toBe('/no/such/file.json does not exist');
});

test('rejects a directory', async () => {
  expect(await complaint(openSource(folder))).toBe(`${folder} is a directory, not a file`);
});

test('the path "-" reads standard input, compressed or not', async () => {
  const program = `
    import { openSource } from ${JSON.stringify(import.meta.resolve('../src/rows/import-source.ts'))};
    const source = await openSource('-');
    let bytes = 0;
    for await (const chunk of source.chunks()) bytes += chunk.length;
    console.log(bytes, source.bytesTotal);`;
  for (const input of [Buffer.from(TEXT), ...PACKED.map(([, packed]) => packed)]) {
    const child = Bun.spawnSync([process.execPath, '-e', program], { stdin: input });
    expect(child.stdout.toString()).toBe(`${TEXT.length} undefined\n`);
  }
});

test('a named pipe is read once', async () => {
  const program = `
    import { openSource } from ${JSON.stringify(import.meta.resolve('../src/rows/import-source.ts'))};
    let text = '';
    for await (const chunk of (await openSource(process.argv[1])).chunks()) text += Buffer.from(chunk);
    console.log(JSON.stringify(text));`;
  const script = 'mkfifo "$2" && { echo hello > "$2" & exec "$0" -e "$1" "$2"; }';
  const pipe = join(folder, 'pipe');
  const child = Bun.spawnSync(['/bin/sh', '-c', script, process.execPath, program, pipe]);
  expect(child.stdout.toString()).toBe('"hello\\n"\n');
});
