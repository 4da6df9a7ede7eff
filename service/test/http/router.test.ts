// Finding the route of a path: a map for fixed paths, a regular expression for paths with parameters.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { buildRouter, type Method, type Route } from '../../src/http/router.ts';

function route(method: Method, path: string, openToBrowsers = false): Route {
  return {
    method,
    path,
    openToBrowsers,
    answer: async () => ({ status: 204, headers: new Headers(), body: null }),
  };
}

const COUPONS = route('GET', '/v1/coupons/', true);
const DOCS = route('GET', '/docs');
const HOME = route('GET', '/');
const ACTIVATE = route('GET', '/v1/coupons/{id}/activate/');
const ACTIVATE_BY_POST = route('POST', '/v1/coupons/{id}/activate/', true);
const GO = route('GET', '/go/{click}/');
const FILE = route('GET', '/files/{folder}/{name}');
const find = buildRouter([COUPONS, DOCS, HOME, ACTIVATE, ACTIVATE_BY_POST, GO, FILE]);

describe('allowed methods', () => {
  test('the allowed methods include HEAD for every route with GET, and no unsupported methods', () => {
    const { resource } = find('/v1/coupons/7/activate/') ?? {};
    expect(['GET', 'HEAD', 'POST', 'PUT', 'get'].map((method) => resource?.routes.get(method))).toEqual([
      ACTIVATE,
      ACTIVATE,
      ACTIVATE_BY_POST,
      undefined,
      undefined,
    ]);
  });

  test.each([
    ['/v1/coupons/', 'GET, HEAD', 'GET, HEAD'],
    ['/v1/coupons/7/activate/', 'GET, HEAD, POST', 'POST'],
    ['/docs', 'GET, HEAD', ''],
  ])(
    'the allowed methods of %s are listed, including those that web pages may use',
    (path, allow, allowFromPages) => {
      expect(find(path)?.resource).toMatchObject({ allow, allowFromPages });
    },
  );
});

test('a fixed path takes precedence over a path with parameters, and paths are case-sensitive', () => {
  const both = buildRouter([route('GET', '/go/{click}/'), route('GET', '/go/help/')]);
  expect(both('/go/help')?.resource.path).toBe('/go/help/');
  expect(both('/go/other')?.resource.path).toBe('/go/{click}/');
  expect(both('/GO/other')).toBeUndefined();
});

describe('any set of routes', () => {
  const word = fc.stringMatching(/^[a-c]{1,2}$/);
  const segment = fc.oneof(
    word,
    word.map((name) => `{${name}}`),
  );
  const path = fc
    .tuple(fc.uniqueArray(segment, { minLength: 1, maxLength: 4 }), fc.boolean())
    .map(([segments, slash]) => `/${segments.join('/')}${slash ? '/' : ''}`);
  const value = fc.stringMatching(/^[^/]{1,5}$/);

  /** The path with its parameters replaced by values. */
  function fill(template: string, values: readonly string[]) {
    const parameters: Record<string, string> = {};
    let used = 0;
    const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      parameters[name] = values[used++] ?? 'x';
      return parameters[name] ?? '';
    });
    return { filled, parameters };
  }

  test('every route is found by its path, with and without a trailing slash', () => {
    fc.assert(
      fc.property(path, fc.array(value), (each, values) => {
        const built = buildRouter([route('GET', each)]);
        const { filled, parameters } = fill(each, values);
        const spellings = each.endsWith('/') ? [filled, filled.slice(0, -1)] : [filled];
        for (const spelling of spellings) {
          expect(built(spelling)).toMatchObject({ resource: { path: each }, parameters });
        }
        if (!each.endsWith('/')) expect(built(`${filled}/`)).toBeUndefined();
      }),
    );
  });

  test('a route is found only by paths that match it', () => {
    const asked = fc.oneof(path, fc.stringMatching(/^[/a-c{}]{0,12}$/));
    fc.assert(
      fc.property(fc.uniqueArray(path, { minLength: 1, maxLength: 4 }), asked, (paths, wanted) => {
        const built = buildRouter(paths.map((each) => route('GET', each)));
        const patterns = paths.map(
          (each) => new RegExp(`^${each.replaceAll(/\{\w+\}/g, '[^/]+').replace(/\/$/, '/?')}$`),
        );
        const matches = paths.filter((_, index) => patterns[index]?.test(wanted));
        const found = built(wanted)?.resource.path;
        expect(
          matches.length === 0 ? found === undefined : found !== undefined && matches.includes(found),
        ).toBe(true);
      }),
    );
  });
});
