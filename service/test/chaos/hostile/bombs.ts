// Small files that decompress to huge ones. They are generated and written in pieces, so that generating them needs little
// memory.

import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, createZstdCompress } from 'node:zlib';
import { ndjson, offer, retailer, transaction } from '../../importer/fixture.ts';
import type { FileKind } from './any-file.ts';

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

/** Generates rows; in each of them, a list replaces the string '@'. */
function* rowsWith(rows: number, row: (n: number) => object, list: (n: number) => string): Generator<string> {
  for (let n = 0; n < rows; n++) yield ndjson(JSON.stringify(row(n)).replace('"@"', () => list(n)));
}

function listOf(item: string, bytes: number): string {
  return `[${repeated(`${item},`, bytes)}${item}]`;
}

function repeated(text: string, bytes: number): string {
  return text.repeat(Math.floor(bytes / text.length));
}

const rowWithField = (n: number) => ({ ...transaction(n), updated: '@' });
const shop = (n: number, cashbackOffers: unknown) => ({
  ...retailer(n, { coupons: [], promotions: [] }),
  cashbackOffers,
});
const shopWithOffers = (n: number) => shop(n, '@');
const shopWithCountries = (n: number) => shop(n, [{ ...offer(n), countries: '@' }]);
const shopWithField = (n: number) => shop(n, [{ ...offer(n), x: '@' }]);

function* listsInAList(): Generator<string> {
  yield `[{"id":1,"x":${listOf('[]', 30 * MEGABYTE)}},`;
  yield `{"id":2,"x":${listOf('[]', 200_000)}}]`;
}

/** Objects with different names, in the nth row of a file. */
function differentNames(n: number): string {
  return `[${Array.from({ length: 199_000 }, (_, k) => `{"${(n * 1e6 + k).toString(36)}":1}`)}]`;
}

type Row = readonly [
  name: string,
  packing: 'gzip' | 'zstd',
  pieces: () => Iterable<string>,
  /** The expected error message. */
  complaint: RegExp,
];

// biome-ignore format: one row for each bomb
const TRANSACTION_BOMBS: readonly Row[] = [
  ['zeros', 'gzip', () => endless('', '\0', 256), LONG_TRANSACTION],
  ['blanks', 'zstd', () => endless('', ' ', 256), LONG_TRANSACTION],
  ['blank lines', 'zstd', () => endless('x', '\n', 4), /^offerbook: line 1: the row is not JSON/],
  ['a list without end', 'gzip', () => endless('', '[', 64),
    /^offerbook: line 1: the list is longer than 32 MiB; write it as NDJSON/],
  ['lists in lists', 'gzip', () => endless('', '[', 31), /^offerbook: line 1 \(item 1\): the list is incomplete/],
  ['objects in objects', 'zstd', () => endless('', '{"a":', 64), LONG_TRANSACTION],
  ['lists in a field that is not read', 'gzip', () => rowsWith(20, rowWithField, () => listOf('[]', 15.5 * MEGABYTE)),
    LONG_TRANSACTION],
  ['lists in a list of rows', 'gzip', listsInAList,
    /^offerbook: line 1 \(item 1\): the row is longer than 256 KiB\nofferbook: line 1 \(item 2\): the row has more than 1,000 values\n/],
  ['bad rows', 'zstd', () => endless('', `${'{}'.padEnd(63)}\n`, 1),
    /… and [\d,]+ more\nofferbook: Nothing was imported: stopped at line 10000 after 10,000 invalid rows; /],
  ['a quote that is never closed', 'gzip', () => endless(`${HEADER}"`, 'a', 64),
    /^offerbook: line 2: the row has a quote that is never closed\n/],
  ['cells without end', 'zstd', () => endless(HEADER, ',', 64), LONG_TRANSACTION],
  ['columns without end', 'zstd', () => endless('id,', ',', 64), LONG_TRANSACTION],
  ['a cursor without end', 'gzip', () => endless('{"cursor":"', 'a', 31), /^offerbook: line 1: the list is incomplete/],
];

// biome-ignore format: one row for each bomb
const CATALOGUE_BOMBS: readonly Row[] = [
  ['zeros', 'gzip', () => endless('', '\0', 64), LONG_RETAILER],
  ['offers that are empty', 'gzip', () => rowsWith(12, shopWithOffers, () => listOf('{}', 7.9 * MEGABYTE)), MANY_VALUES],
  ['empty offers, as many as there may be', 'gzip', () => rowsWith(12, shopWithOffers, () => listOf('{}', 199_000 * 3)),
    /^offerbook: line 1: cashbackOffers\[0\]\.id is missing\n/],
  ['an offer in countries that do not exist', 'gzip', () => rowsWith(12, shopWithCountries, () => listOf('1', 780_000)),
    /^offerbook: line 1: cashbackOffers\[0\]\.countries must have at most 676 items\n/],
  ['names that are all different', 'gzip', () => rowsWith(12, shopWithField, differentNames),
    /^offerbook: line 1: the row has more than 1,000 distinct field names\n/],
];

const bombs = (kind: FileKind, rows: readonly Row[]) =>
  rows.map(([name, packing, pieces, complaint]) => ({ kind, name, packing, pieces, complaint }));

export const BOMBS = [...bombs('transactions', TRANSACTION_BOMBS), ...bombs('catalogue', CATALOGUE_BOMBS)];

export async function writeBomb({ packing, pieces }: (typeof BOMBS)[number], path: string): Promise<void> {
  const pack = packing === 'gzip' ? createGzip({ level: 1 }) : createZstdCompress();
  await pipeline(Readable.from(pieces()), pack, createWriteStream(path));
}
