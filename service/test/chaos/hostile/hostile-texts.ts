// Hostile values: strings that tend to break parsers, databases, logs and pages. Each character of these strings, up to U+00FF,
// is one byte on the wire.

import fc from 'fast-check';

/** One of several arbitraries, each with its weight. */
export function weighted<T>(...choices: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[]) {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

/** Bytes in a URL, valid or not, with or without percent-encoding. */
const URL_PIECES = [
  // Percent signs without a meaning, or with a meaning only if decoded twice.
  '%', '%2', '%zz', '%u0041', '%%', '%2500', '%253A', '%25zz',
  // NUL, line endings and other control characters, percent-encoded.
  '%00', '%0d%0aX-Injected:%20yes', '%0d%0a%0d%0a', '%0a', '%0d', '%09', '%1b[2J', '%7f', '%c2%85',
  // UTF-8 that is overlong, cut short, too large, or one half of a surrogate pair.
  '%c0%af', '%c0%80', '%e0%80%af', '%f0%80%80%80', '%c3', '%e2%82', '%f4%90%80%80', '%f8%88%80%80%80',
  '%ed%a0%80', '%ed%bf%bf', '%ed%a0%bd%ed%b8%80', '%ff%fe', '%fe', '%80',
  // The same without percent-encoding.
  '\xff', '\xc0\xaf', '\xed\xa0\x80', '\xc3\xa9', '\xe2\x80\xae', '\xf0\x9f\x98\x80', '\x80',
  // Characters whose length or order changes when case and accents are folded.
  '%c4%b0', '%c3%9f', '%ef%ac%83', '%cd%85', '%e2%84%aa', 'e%cc%81%cc%81%cc%81', '%d9%a3', '%ef%bc%91',
  '%e2%80%ae', '%e2%80%8b', '%ef%bb%bf', '%ef%bf%bf', '%f0%9f%91%a9%e2%80%8d%f0%9f%91%a9', '%f3%a0%80%81',
  // Syntax of other languages.
  "'", '"', '`', '\\', '|', '^', '{', '}', '[', ']', '<', '>', '(', ')', '*', ';', ',', '!', '$', '@', '~',
  '+', '%20', '%2B', '%26', '%3D', '%23', '#', '=', '==', '%25', '_', '%5f', '.', '..', '/', '//', '%2f', '%5c',
  "'%20OR%20'1'='1", ';DROP%20TABLE%20transactions;--', '$%7B7*7%7D', '%7B%7B7*7%7D%7D', '$(id)', '`id`',
  '<script>alert(1)</script>', '%3Cscript%3E', 'javascript:alert(1)', '../../etc/passwd', '..%2f..%2f',
  '__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', '%7B%22$gt%22:%22%22%7D', '[object%20Object]',
] as const; // biome-ignore format: one row for each idea

const NUMBERS = [
  '0', '-0', '-1', '+1', '00', '007', '1.0', '1.5', '1e2', '1e308', '1e999', '0x10', '0b1', '1_000', '1,000',
  '999', '1000', '1001', '9999', '99999', '2147483648', '4294967297', '9007199254740993', '18446744073709551616',
  '9'.repeat(190), '9'.repeat(400), 'NaN', 'Infinity', '-Infinity', 'null', 'undefined', 'true', '[]', '1%00', '%201',
] as const; // biome-ignore format: one row for each idea

const DATES = [
  '2026-11-14T12:00:00', '2026-11-14', '2026-11-14T12:00:00Z', '2026-11-14T12:00:00.123456789012345678Z',
  '2026-11-14T12:00:00+14:00', '2026-11-14T12:00:00%2B14:00', '2026-11-14T12:00:00-99:99', '2026-11-14T24:00:00',
  '2026-02-30T00:00:00', '2026-13-01', '0000-01-01T00:00:00', '0000-00-00', '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:60Z', '9999-12-31T23:59:59-23:59', '0000-01-01T00:00:00%2B23:59', '-271821-04-20T00:00:00',
  '+275760-09-13T00:00:00', '1970-01-01T00:00:00', '1969-12-31T23:59:59.9999', '2026-11-14t12:00:00z',
  '2026-11-14%2012:00:00', '2026-W46-6', '2026-318', '1763121600', '1763121600000', 'now', 'epoch', 'infinity', '-infinity',
  `2026-11-14T12:00:00.${'9'.repeat(178)}Z`, `2026-11-14T12:00:00.${'0'.repeat(300)}`,
] as const; // biome-ignore format: one row for each idea

const CURSORS = [
  '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  '{00000000-0000-0000-0000-000000000000}', 'urn:uuid:00000000-0000-0000-0000-000000000000', '0'.repeat(32),
  '00000000-0000-0000-0000-00000000000', '00000000-0000-0000-0000-0000000000000', '00000000-0000-0000-0000-00000000000g',
  '00000000_0000_0000_0000_000000000000', '00000000-0000-0000-0000-000000000000%00', '1', '-1', 'MQ==', 'eyJpZCI6MX0',
] as const; // biome-ignore format: one row for each idea

/** Any bytes except control characters and spaces, which end the target of a request. */
const anyUrlBytes = fc.string({
  unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)),
  maxLength: 12,
});

const anyUrlPiece = fc.constantFrom(...URL_PIECES);

/** A hostile string in a URL. */
export const hostileUrlText: fc.Arbitrary<string> = weighted(
  [6, anyUrlPiece],
  [3, fc.array(anyUrlPiece, { minLength: 2, maxLength: 6 }).map((pieces) => pieces.join(''))],
  [2, fc.constantFrom(...NUMBERS)],
  [2, fc.constantFrom(...DATES)],
  [2, fc.constantFrom(...CURSORS)],
  [2, anyUrlBytes],
  [
    1,
    fc
      .tuple(
        fc.constantFrom('a', '%00', '%f0%9f%98%80', 'e%cc%81', '%25', '/'),
        fc.constantFrom(60, 199, 200, 201, 800),
      )
      .map(([piece, times]) => piece.repeat(times)),
  ],
);

/** A hostile string in a header, without bytes that end the header. */
export const hostileHeaderText: fc.Arbitrary<string> = weighted(
  [3, anyUrlPiece],
  [
    2,
    fc.string({
      unit: fc
        .integer({ min: 0x20, max: 0xff })
        .filter((code) => code !== 0x7f)
        .map((code) => String.fromCharCode(code)),
      maxLength: 40,
    }),
  ],
  [1, fc.constantFrom('', ' ', '\t', ',', ',,,,', ';', '*', '*/*', '"', 'W/', '\xff\xfe', 'q=1', ';q=')],
  [1, fc.constantFrom(...NUMBERS)],
  [1, fc.constantFrom(130, 1000, 7000).map((length) => 'x'.repeat(length))],
);

/** Bytes that must never be accepted in a header: they end the header, or parsers may think so. */
// biome-ignore format: one list
export const BROKEN_BYTES = [
  '\0', '\r', '\n', '\r\n', '\r\nX-Injected: yes', '\n\n', '\x7f', '\x01', ' ', '\t', '\r\n\r\nGET /livez HTTP/1.1\r\n\r\n',
] as const;
