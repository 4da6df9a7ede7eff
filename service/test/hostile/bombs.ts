// Small files that unpack to something huge. Each is made and written piece by piece, so that making them
// takes no memory either.

import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, createZstdCompress } from 'node:zlib';

const PIECE_BYTES = 1024 * 1024;

export interface Bomb {
  readonly name: string;
  readonly packing: 'gzip' | 'zstd';
  readonly start: string;
  /** What follows again and again. */
  readonly filling: string;
  readonly megabytes: number;
  /** What a person is told. */
  readonly complaint: RegExp;
}

const HEADER = 'id,country,soldAt,currencyCode,orderValue,cashback,status\n';
const TOO_LONG = /^line [12]: the row is longer than 16 MiB\n/;

export const BOMBS: readonly Bomb[] = [
  { name: 'zeros', packing: 'gzip', start: '', filling: '\0', megabytes: 256, complaint: TOO_LONG },
  { name: 'blanks', packing: 'zstd', start: '', filling: ' ', megabytes: 256, complaint: TOO_LONG },
  {
    name: 'blank lines',
    packing: 'zstd',
    start: 'x',
    filling: '\n',
    megabytes: 4,
    complaint: /^line 1: the row is not JSON/,
  },
  {
    name: 'lists in lists',
    packing: 'gzip',
    start: '',
    filling: '[',
    megabytes: 32,
    complaint: /^line 1 \(item 1\): the row is not complete/,
  },
  {
    name: 'objects in objects',
    packing: 'zstd',
    start: '',
    filling: '{"a":',
    megabytes: 64,
    complaint: TOO_LONG,
  },
  {
    name: 'bad rows',
    packing: 'zstd',
    start: '',
    filling: `${'{}'.padEnd(63)}\n`,
    megabytes: 1,
    complaint: /… and [\d,]+ more\nNothing was imported: [\d,]+ of [\d,]+ rows are bad\.\n$/,
  },
  {
    name: 'a quote that is never closed',
    packing: 'gzip',
    start: `${HEADER}"`,
    filling: 'a',
    megabytes: 64,
    complaint: TOO_LONG,
  },
  {
    name: 'cells without end',
    packing: 'zstd',
    start: HEADER,
    filling: ',',
    megabytes: 64,
    complaint: TOO_LONG,
  },
  {
    name: 'columns without end',
    packing: 'zstd',
    start: 'id,',
    filling: ',',
    megabytes: 64,
    complaint: TOO_LONG,
  },
  {
    name: 'a cursor without end',
    packing: 'gzip',
    start: '{"cursor":"',
    filling: 'a',
    megabytes: 64,
    complaint: /^line 1: the list is not closed/,
  },
];

export async function writeBomb({ packing, start, filling, megabytes }: Bomb, path: string): Promise<void> {
  const piece = Buffer.from(filling.repeat(Math.floor(PIECE_BYTES / filling.length)));
  function* pieces() {
    yield Buffer.from(start);
    for (let n = 0; n < megabytes; n++) yield piece;
  }
  const pack = packing === 'gzip' ? createGzip({ level: 1 }) : createZstdCompress();
  await pipeline(Readable.from(pieces()), pack, createWriteStream(path));
}
