// Small files that decompress to huge ones. They are generated and written in pieces, so that generating them needs little
// memory, too.

import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, createZstdCompress } from 'node:zlib';
import { ndjson, offer, retailer, transaction } from '../../importer/fixture.ts';
import type { FileKind } from './any-file.ts';

export interface Bomb {
  readonly name: string;
  readonly kind: FileKind;
  readonly packing: 'gzip' | 'zstd';
  readonly pieces: () => Iterable<string>;
  /** The expected error message. */
  readonly complaint: RegExp;
}

const MEGABYTE = 1024 * 1024;
const HEADER = 'id,country,soldAt,currencyCode,orderValue,cashback,status\n';
const LONG_TRANSACTION = /^offerbook: line [12]: the row is longer than 256 KiB\n/;
const LONG_RETAILER = /^offerbook: line 1: the row is longer than 8 MiB\n/;
const MANY_VALUES = /^offerbook: line 1: the row has more than 400,000 values\n/;

/** A start, followed by many repetitions of the filling. */
function* endless(start: string, filling: string, megabytes: number): Generator<string> {
  yield start;
  const piece = repeated(filling, MEGABYTE);
  for (let n = 0; n < megabytes; n++) yield piece;
}

/** Rows with a list of the given size in one field. */
function* rowsWithList(
  rows: number,
  row: (n: number) => object,
  field: string,
  item: string,
  bytes: number,
): Generator<string> {
  const list = `[${repeated(`${item},`, bytes)}${item}]`;
  for (let n = 0; n < rows; n++) yield ndjson(`${JSON.stringify(row(n)).slice(0, -1)},"${field}":${list}}`);
}

function repeated(text: string, bytes: number): string {
  return text.repeat(Math.floor(bytes / text.length));
}

const TRANSACTION_BOMBS: readonly Omit<Bomb, 'kind'>[] = [
  {
    name: 'zeros',
    packing: 'gzip',
    pieces: () => endless('', '\0', 256),
    complaint: LONG_TRANSACTION,
  },
  { name: 'blanks', packing: 'zstd', pieces: () => endless('', ' ', 256), complaint: LONG_TRANSACTION },
  {
    name: 'blank lines',
    packing: 'zstd',
    pieces: () => endless('x', '\n', 4),
    complaint: /^offerbook: line 1: the row is not JSON/,
  },
  {
    name: 'a list without end',
    packing: 'gzip',
    pieces: () => endless('', '[', 64),
    complaint: /^offerbook: line 1: the list is longer than 32 MiB; write it as NDJSON/,
  },
  {
    name: 'lists in lists',
    packing: 'gzip',
    pieces: () => endless('', '[', 31),
    complaint: /^offerbook: line 1 \(item 1\): the list is incomplete/,
  },
  {
    name: 'objects in objects',
    packing: 'zstd',
    pieces: () => endless('', '{"a":', 64),
    complaint: LONG_TRANSACTION,
  },
  {
    name: 'lists in a field that is not read',
    packing: 'gzip',
    pieces: () => rowsWithList(20, (n) => transaction(n), 'updated', '[]', 15.5 * MEGABYTE),
    complaint: LONG_TRANSACTION,
  },
  {
    name: 'lists in a list of rows',
    packing: 'gzip',
    *pieces() {
      yield `[{"id":1,"x":[${repeated('[],', 30 * MEGABYTE)}[]]},`;
      yield `{"id":2,"x":[${repeated('[],', 200_000)}[]]}]`;
    },
    complaint:
      /^offerbook: line 1 \(item 1\): the row is longer than 256 KiB\nofferbook: line 1 \(item 2\): the row has more than 1,000 values\n/,
  },
  {
    name: 'bad rows',
    packing: 'zstd',
    pieces: () => endless('', `${'{}'.padEnd(63)}\n`, 1),
    complaint:
      /… and [\d,]+ more\nofferbook: Nothing was imported: stopped at line 10000 after 10,000 invalid rows; /,
  },
  {
    name: 'a quote that is never closed',
    packing: 'gzip',
    pieces: () => endless(`${HEADER}"`, 'a', 64),
    complaint: /^offerbook: line 2: the row has a quote that is never closed\n/,
  },
  {
    name: 'cells without end',
    packing: 'zstd',
    pieces: () => endless(HEADER, ',', 64),
    complaint: LONG_TRANSACTION,
  },
  {
    name: 'columns without end',
    packing: 'zstd',
    pieces: () => endless('id,', ',', 64),
    complaint: LONG_TRANSACTION,
  },
  {
    name: 'a cursor without end',
    packing: 'gzip',
    pieces: () => endless('{"cursor":"', 'a', 31),
    complaint: /^offerbook: line 1: the list is incomplete/,
  },
];

/** A retailer without the field for its offers, which the caller adds. */
const shop = (n: number) => {
  const { cashbackOffers: _, ...rest } = retailer(n, { coupons: [], promotions: [] });
  return rest;
};

const CATALOGUE_BOMBS: readonly Omit<Bomb, 'kind'>[] = [
  { name: 'zeros', packing: 'gzip', pieces: () => endless('', '\0', 64), complaint: LONG_RETAILER },
  {
    name: 'offers that are empty',
    packing: 'gzip',
    pieces: () => rowsWithList(12, shop, 'cashbackOffers', '{}', 7.9 * MEGABYTE),
    complaint: MANY_VALUES,
  },
  {
    name: 'empty offers, as many as there may be',
    packing: 'gzip',
    pieces: () => rowsWithList(12, shop, 'cashbackOffers', '{}', 199_000 * 3),
    complaint: /^offerbook: line 1: cashbackOffers\[0\]\.id is missing\n/,
  },
  {
    name: 'an offer in countries that do not exist',
    packing: 'gzip',
    *pieces() {
      const countries = `[${repeated('1,', 780_000)}1]`;
      for (let n = 0; n < 12; n++)
        yield ndjson(JSON.stringify(retailer(n)).replace('["DE","AT"]', countries));
    },
    complaint: /^offerbook: line 1: cashbackOffers\[0\]\.countries must have at most 676 items\n/,
  },
  {
    name: 'names that are all different',
    packing: 'gzip',
    *pieces() {
      for (let n = 0; n < 12; n++) {
        const names = Array.from({ length: 199_000 }, (_, k) => `{"${(n * 1e6 + k).toString(36)}":1}`);
        yield ndjson(
          JSON.stringify(retailer(n, { cashbackOffers: [offer(n, { x: 0 })] })).replace('0}', `[${names}]}`),
        );
      }
    },
    complaint: /^offerbook: line 1: the row has more than 1,000 distinct field names\n/,
  },
];

export const BOMBS: readonly Bomb[] = [
  ...TRANSACTION_BOMBS.map((bomb) => ({ ...bomb, kind: 'transactions' as const })),
  ...CATALOGUE_BOMBS.map((bomb) => ({ ...bomb, kind: 'catalogue' as const })),
];

export async function writeBomb({ packing, pieces }: Bomb, path: string): Promise<void> {
  const pack = packing === 'gzip' ? createGzip({ level: 1 }) : createZstdCompress();
  await pipeline(Readable.from(pieces()), pack, createWriteStream(path));
}
