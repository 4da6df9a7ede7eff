// Damaged import files, as from accidents or attackers: valid rows in every format that the importer reads, damaged before or
// after compression.

import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { TRANSACTION_FIELDS } from '@offerbook/wire/transaction.ts';
import fc from 'fast-check';
import { coupon, ndjson, offer, promotion, retailer, transaction } from '../../importer/fixture.ts';
import { weighted } from './hostile-texts.ts';

export type FileKind = 'catalogue' | 'transactions';

interface HostileFile {
  readonly format: string;
  readonly packing: string;
  readonly bytes: Uint8Array;
}

type Row = Record<string, unknown>;

/** Strings that make a valid row invalid, or only make it look invalid. */
const HOSTILE_JSON = [
  '"__proto__":{"polluted":true},', '"constructor":{"prototype":{"polluted":true}},', '"prototype":{"polluted":1},',
  '"id":1,', '"id":"x","id":"y",', '"name":null,', '"coupons":[[[[]]]],', '"cursor":"x",', '"data":[],', '"toString":1,',
  '\\u0000', '\\ud800', '\\udc00\\ud800', '\\u202e', '\\x', '\\', '"', '""', '\\"', '{', '}', '[', ']', '{}', '[]', ',', ':',
  'null', 'true', 'NaN', '-0', '1e400', '-1e400', '1e-400', '9'.repeat(400), '0.1'.padEnd(40, '9'), '0x1', '01', '.5', '5.',
  '\n', '\r', '\r\n', '\n\n\n', '\u0000', '\u2028', '\ufeff', '\ud83d\ude00', '\u001b[31m', ' '.repeat(5000), '['.repeat(2000), '{"a":'.repeat(2000),
  ';', '\t', "'", '=cmd|calc', '/*', '//', '<!--', '../../etc/passwd', "'; DROP TABLE transactions; --",
  '9999-12-31T23:59:59.999', '0000-00-00T00:00:00', '2026-02-30T00:00:00', '00000000-0000-0000-0000-000000000000',
]; // biome-ignore format: one row for each idea

const few = fc.nat(6);
const anyText = fc.string({ unit: 'binary', maxLength: 8 });

const anyRetailer: fc.Arbitrary<Row> = fc
  .record({ n: few, name: anyText, deals: fc.uniqueArray(few, { maxLength: 2 }), description: anyText })
  .map(({ n, name, deals, description }) => ({
    ...retailer(n, {
      name: name || 'x',
      cashbackOffers: deals.map((k) => offer(n * 10 + k, { description })),
      // Sometimes a deal of another retailer.
      coupons: deals.map((k) => coupon(k === 6 ? k : n * 10 + k)),
      promotions: deals.map((k) => promotion(n * 10 + k)),
    }),
  }));

const anyTransaction: fc.Arbitrary<Row> = fc
  .record({
    n: few,
    status: fc.constantFrom('PENDING', 'CONFIRMED', 'DECLINED'),
    cashback: fc.nat(10_000).map((cents) => cents / 100),
    passbackUid: fc.option(anyText),
  })
  .map(({ n, ...changes }) => ({ ...transaction(n, changes) }));

const JSON_FORMATS: Record<string, (rows: readonly Row[]) => string> = {
  NDJSON: (rows) => ndjson(...rows),
  'NDJSON with Windows line endings': (rows) => ndjson(...rows).replaceAll('\n', '\r\n'),
  'NDJSON with a byte order mark': (rows) => `\ufeff${ndjson(...rows)}`,
  'a JSON list': (rows) => JSON.stringify(rows),
  'a JSON list over many lines': (rows) => JSON.stringify(rows, null, 2),
  'a list envelope': (rows) => JSON.stringify({ data: rows }),
  'one page of several': (rows) =>
    JSON.stringify({ data: rows, cursor: '0192d1a0-0001-7000-8000-000000000001' }),
};

const FORMATS: Record<FileKind, typeof JSON_FORMATS> = {
  catalogue: JSON_FORMATS,
  transactions: {
    ...JSON_FORMATS,
    CSV: (rows) => csv(rows, '\n'),
    'CSV with Windows line endings': (rows) => csv(rows, '\r\n'),
  },
};

const PACKINGS: Record<string, (bytes: Uint8Array) => Uint8Array> = {
  plain: (bytes) => bytes,
  gzip: (bytes) => gzipSync(bytes, { level: 1 }),
  'gzip twice': (bytes) => gzipSync(gzipSync(bytes, { level: 1 }), { level: 1 }),
  zstd: (bytes) => zstdCompressSync(bytes, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
  'zstd without a checksum': (bytes) => zstdCompressSync(bytes),
  brotli: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
};

export interface Damage {
  readonly at: number;
  readonly cut: number;
  readonly paste: Uint8Array;
}

const oneDamage: fc.Arbitrary<Damage> = fc.record({
  at: fc.nat(),
  cut: weighted([6, fc.nat(3)], [1, fc.constantFrom(40, 1e9)]),
  paste: weighted(
    [3, fc.constantFrom(...HOSTILE_JSON).map((text) => Buffer.from(text))],
    [1, fc.uint8Array({ maxLength: 4 })],
  ),
});

export const someDamage: fc.Arbitrary<readonly Damage[]> = fc.array(oneDamage, {
  minLength: 1,
  maxLength: 2,
});
const noDamage: fc.Arbitrary<readonly Damage[]> = fc.constant([]);

/** Damage before compression, after it, both, or none. */
const anyDamages = weighted(
  [3, fc.record({ before: noDamage, after: noDamage })],
  [5, fc.record({ before: someDamage, after: noDamage })],
  [2, fc.record({ before: noDamage, after: someDamage })],
  [1, fc.record({ before: someDamage, after: someDamage })],
);

/** A file of up to eight rows, usually damaged. */
export function anyFile(kind: FileKind): fc.Arbitrary<HostileFile> {
  const row = kind === 'catalogue' ? anyRetailer : anyTransaction;
  const rows = weighted(
    [4, fc.uniqueArray(row, { maxLength: 7, selector: (it) => it.id })],
    [1, fc.array(row, { maxLength: 8 })],
  );
  return fc
    .record({
      rows,
      format: fc.constantFrom(...Object.keys(FORMATS[kind])),
      packing: weighted([3, fc.constant('plain')], [2, fc.constantFrom(...Object.keys(PACKINGS))]),
      damages: anyDamages,
    })
    .map(({ rows, format, packing, damages: { before, after } }) => {
      const text = Buffer.from(FORMATS[kind][format]?.(rows) ?? '');
      const packed = PACKINGS[packing]?.(before.reduce<Uint8Array>(damaged, text)) ?? text;
      return { format, packing, bytes: after.reduce<Uint8Array>(damaged, packed) };
    });
}

export function damaged(bytes: Uint8Array, { at, cut, paste }: Damage): Uint8Array {
  const place = bytes.length === 0 ? 0 : at % bytes.length;
  return Buffer.concat([bytes.subarray(0, place), paste, bytes.subarray(place + cut)]);
}

function csv(rows: readonly Row[], lineEnd: string): string {
  const cell = (value: unknown) => {
    const text = value === null || value === undefined ? '' : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) => TRANSACTION_FIELDS.map((field) => cell(row[field])).join(','));
  return [TRANSACTION_FIELDS.join(','), ...lines].map((line) => line + lineEnd).join('');
}
