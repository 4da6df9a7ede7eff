// Requests generated from the OpenAPI document and from hostile values: from a valid request with one invalid parameter to
// bytes that barely resemble HTTP.

import type { ApiParameter } from '@offerbook/site/docs/api-document.ts';
import fc from 'fast-check';
import { openApiDocument } from '../../../src/http/openapi/openapi-document.ts';
import { id } from '../../support/fixtures.ts';
import { BROKEN_BYTES, hostileHeaderText, hostileUrlText, weighted } from './hostile-texts.ts';

/** The credentials of a request; request-attack.ts fills in the tokens. */
export type Credentials = 'right' | 'wrong kind' | 'unknown' | 'none' | { readonly text: string };

export interface HostileRequest {
  readonly method: string;
  /** Path and query, or the bytes in their place. */
  readonly target: string;
  readonly credentials: Credentials;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Bun's parser rejects a request line and headers of more than 16 KiB, or more than 200 headers. */
const HEAD_BYTES_MAX = 16 * 1024;
const HEADERS_MAX = 100;

const document = openApiDocument();
const PATHS = Object.keys(document.paths);
const METHODS = ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
const ODD_METHODS = ['CONNECT', 'get', 'BREW', 'PROPFIND', 'PRI', ''];
// biome-ignore format: one list
const SITE = [
  '/', '/livez', '/readyz', '/openapi.json', '/docs', '/errors/', '/errors/not_found', '/metrics', '/favicon.svg',
];
// biome-ignore format: one list
const NAMES = [
  'access_token', 'token', 'name[]', 'name[0]', 'limit[]', 'cursor.id', '__proto__', 'constructor', 'LIMIT',
  'limit%00', '%6cimit', ' limit', '', '_', 'utm_source',
];
// biome-ignore format: one list
const HEADER_NAMES = [
  'Accept', 'Accept-Encoding', 'Accept-Language', 'If-None-Match', 'If-Modified-Since', 'If-Match', 'Range',
  'Request-Id', 'X-Request-Id', 'Origin', 'Access-Control-Request-Method', 'Access-Control-Request-Headers',
  'X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'Forwarded', 'X-HTTP-Method-Override', 'X-Original-URL',
  'Cookie', 'Referer', 'User-Agent', 'Content-Type', 'Traceparent', 'Via', 'X-Hostile',
];
// biome-ignore format: one list
const HOSTS = [
  'x', 'x:1', 'x:99999', '[::1]', '[::1', 'a%00b', 'a b', 'user@x', 'x/y?z', '"><script>', '\xe9', '', '0',
  '127.0.0.1', 'x'.repeat(300), 'a,b', "x'", 'X.EXAMPLE:80', '..', '%zz', '\\', '#',
];

/** A value that the document allows, encoded for a URL. */
function goodValue({ name, schema, example }: ApiParameter): fc.Arbitrary<string> {
  const { type, format, minimum, maximum, pattern, maxLength } = schema as Partial<
    Record<'type' | 'format' | 'pattern', string> & Record<'minimum' | 'maximum' | 'maxLength', number>
  >;
  if (type === 'integer') return fc.integer({ min: minimum ?? 0, max: maximum ?? 1 }).map(String);
  if (format === 'uuid') return fc.uuid();
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  // The document describes dates as plain strings, because no JSON Schema format covers all accepted forms.
  if (name.startsWith('updatedAt')) return fc.constant(encodeURIComponent(String(example)));
  if (name === 'hostname') return fc.domain();
  return fc.string({ unit: 'grapheme', maxLength: Math.min(maxLength ?? 20, 20) }).map(encodeURIComponent);
}

function anyPair(parameters: readonly ApiParameter[]): fc.Arbitrary<string> {
  const names = fc.oneof(fc.constantFrom(...NAMES), hostileUrlText);
  const pairs = parameters.map((parameter) =>
    weighted([3, goodValue(parameter)], [2, hostileUrlText]).map((value) => `${parameter.name}=${value}`),
  );
  const named = fc.tuple(names, hostileUrlText).map((pair) => pair.join('='));
  return weighted([pairs.length === 0 ? 0 : 8, fc.oneof(names, ...pairs)], [2, named], [1, names]);
}

function anyQuery(parameters: readonly ApiParameter[]): fc.Arbitrary<string> {
  const pair = anyPair(parameters);
  return weighted(
    [10, fc.array(pair, { maxLength: 4 }).map((pairs) => pairs.join('&'))],
    [1, fc.array(pair, { maxLength: 3 }).map((pairs) => pairs.join('&&;'))],
    // The same parameter up to a thousand times, within the limit on URLs.
    [
      1,
      fc
        .tuple(pair, fc.constantFrom(2, 30, 1000))
        .map(([one, times]) => Array(times).fill(one).join('&').slice(0, 12_000)),
    ],
  );
}

/** An id in the node's data, an unknown id, or a string that is not an id. */
const anyId = fc.oneof(fc.nat(400).map(id), fc.uuid(), hostileUrlText);

const anyOperationTarget = fc.oneof(
  ...PATHS.map((path) =>
    fc
      .tuple(
        fc.constantFrom(path, path, path, path.slice(0, -1)),
        anyId,
        anyQuery(
          (document.paths[path]?.get.parameters ?? []).filter((parameter) => parameter.in === 'query'),
        ),
      )
      .map(([written, value, query]) => {
        const target = written.replace('{id}', () => value);
        return query === '' ? target : `${target}?${query}`;
      }),
  ),
);

// biome-ignore format: one list
const ODD_TARGETS = [
  '*', '//', '/./', '/../', '///v1/coupons/', '?', '/?', '/#', 'coupons', 'a:1', '/v1\\coupons/', '/V1/COUPONS/',
  '/v1/coupons/;a=b', 'http://', 'http://x', 'https:///v1/coupons/', 'ftp://x/', '/v1/coupons/%2e%2e/coupons/',
];

const anyOddTarget = fc.oneof(
  fc.constantFrom(...SITE),
  hostileUrlText.map((text) => `/${text}`),
  fc.tuple(fc.constantFrom(...PATHS, ...SITE), hostileUrlText).map((parts) => parts.join('')),
  fc.tuple(hostileUrlText, fc.constantFrom(...PATHS)).map(([text, path]) => `/${text}/..${path}`),
  fc.constantFrom(...PATHS).map((path) => `http://elsewhere.example${path}?limit=1`),
  fc.constantFrom(...ODD_TARGETS),
  fc
    .tuple(fc.constantFrom(...PATHS), fc.constantFrom(8_192, 16_383, 16_384, 16_385, 28_000))
    .map(([path, length]) => `${path}?x=`.padEnd(length, 'a')),
);

type Header = readonly [name: string, value: string];

const PREFLIGHT: readonly Header[] = [
  ['Origin', 'https://shop.example'],
  ['Access-Control-Request-Method', 'GET'],
];
const ANY_TAG: readonly Header[] = [['If-None-Match', '*']];
// biome-ignore format: one list
const CODINGS = [
  'zstd', 'br', 'gzip', 'gzip;q=0', '*', 'identity;q=0', 'br;q=1.5, zstd;q=x', 'gzip, br, zstd',
];
const MESSAGE_HEADERS: readonly Header[] = [
  ['Content-Length', '-1'],
  ['Content-Length', '0x1'],
  ['Transfer-Encoding', 'chunked, identity'],
  ['Connection', 'close'],
  ['Expect', '100-continue'],
  ['Upgrade', 'websocket'],
];

const anyHeader: fc.Arbitrary<Header> = weighted(
  [6, fc.tuple(fc.constantFrom(...HEADER_NAMES), hostileHeaderText)],
  [1, fc.constantFrom(...CODINGS).map((codings) => ['Accept-Encoding', codings] as const)],
  [1, fc.constantFrom(...MESSAGE_HEADERS)],
);

const anyCredentials = weighted<Credentials>(
  [14, fc.constant('right' as const)],
  [3, fc.constantFrom('wrong kind' as const, 'unknown' as const, 'none' as const)],
  [1, hostileHeaderText.map((text) => ({ text: `Bearer ${text}` }))],
  [1, hostileHeaderText.map((text) => ({ text }))],
);

const anyWellFormedRequest: fc.Arbitrary<HostileRequest> = fc.record({
  method: weighted(
    [12, fc.constant('GET')],
    [3, fc.constantFrom(...METHODS)],
    [1, fc.constantFrom(...ODD_METHODS)],
  ),
  target: weighted([5, anyOperationTarget], [1, anyOddTarget]),
  credentials: anyCredentials,
  headers: fc
    .tuple(
      weighted([5, fc.constant('x')], [1, fc.constantFrom(...HOSTS)]),
      weighted(
        [10, fc.constant([])],
        [10, fc.array(anyHeader, { maxLength: 4 })],
        [10, fc.constantFrom(PREFLIGHT, ANY_TAG)],
      ),
    )
    .map(([host, others]) => [['Host', host] as const, ...others]),
  body: weighted([9, fc.constant('')], [1, fc.constantFrom('{}', '\0\0', 'x'.repeat(5000))]),
});

/** A request with bytes that HTTP does not allow, with too many headers or with a header that is too long. */
const anyBrokenRequest: fc.Arbitrary<HostileRequest> = fc
  .tuple(
    anyWellFormedRequest,
    fc.constantFrom('target', 'header', 'name', 'many', 'long', 'method'),
    fc.constantFrom(...BROKEN_BYTES),
    fc.nat(200),
  )
  .map(([request, place, bytes, at]) => {
    const split = (text: string) => `${text.slice(0, at)}${bytes}${text.slice(at)}`;
    const withHeaders = (...more: Header[]) => ({ ...request, headers: [...request.headers, ...more] });
    switch (place) {
      case 'target':
        return { ...request, target: split(request.target) };
      case 'header':
        return withHeaders(['X-Hostile', split('a'.repeat(20))]);
      case 'name':
        return withHeaders([split('X-Hostile'), 'a']);
      case 'many':
        return withHeaders(...Array.from({ length: 500 }, (_, n) => [`X-${n}`, ''] as const));
      case 'long':
        return withHeaders(['X-Hostile', 'a'.repeat(100_000)]);
      default:
        return { ...request, method: split(request.method) };
    }
  });

export const anyRequest: fc.Arbitrary<HostileRequest> = weighted(
  [14, anyWellFormedRequest],
  [1, anyBrokenRequest],
);

/** The request as bytes, with its Authorization header. */
export function printRequest(request: HostileRequest, authorization: string | undefined): Buffer {
  const headers =
    authorization === undefined ? request.headers : [...request.headers, ['Authorization', authorization]];
  const length = request.body === '' ? [] : [`Content-Length: ${request.body.length}`];
  const lines = [
    `${request.method} ${request.target} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...length,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${request.body}`, 'latin1');
}

function longestCredentials({ credentials }: HostileRequest): string {
  return typeof credentials === 'object' ? credentials.text : `Bearer ${'x'.repeat(43)}`;
}

/** True if the request is valid by RFC 9112, so that the service must respond to it and Bun's parser must not reject it. */
export function isWellFormed(request: HostileRequest): boolean {
  const { method, target, headers } = request;
  if (method !== 'GET' && !METHODS.includes(method)) return false;
  if (!/^(\/|https?:\/\/[\w.]+\/)[\x21-\x7e\x80-\xff]*$/.test(target)) return false;
  if (printRequest(request, longestCredentials(request)).length - request.body.length > HEAD_BYTES_MAX)
    return false;
  if (headers.length > HEADERS_MAX) return false;
  return headers.every(
    ([name, value]) =>
      /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) &&
      /^[\t\x20-\x7e\x80-\xff]*$/.test(value) &&
      (name !== 'Host' || value.trim() !== '') &&
      name !== 'Content-Length' &&
      name !== 'Transfer-Encoding',
  );
}
