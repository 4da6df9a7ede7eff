// The requests of every network, for any account, window and page: they ask for the window, never leave the account, and a walk
// reads every row once.

import { describe, expect, test } from 'bun:test';
import { BrokenFile } from '@offerbook/wire/rows/raw-row.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import fc from 'fast-check';
import { Fields } from '../src/fields.ts';
import { openCataloguePull, openSalePull } from '../src/networks.ts';
import type { PulledPage, PullRequest, PullWindow, SalePull } from '../src/pull/network-pull.ts';
import type { NetworkName } from '../src/source/source-file.ts';
import { type Row, sourceFor } from './fixture.ts';
import { TEST_SEED } from './seed.ts';

const NOW_MS = Date.UTC(2026, 10, 20);

function openPull(network: NetworkName, account: string): SalePull {
  const pull = openSalePull(sourceFor(network, { account }));
  if (pull === undefined) throw new Error(`${network} cannot be pulled`);
  return pull;
}

const parse = (text = '') => Date.parse(`${text.replace(' ', 'T').replace('Z', '')}Z`);
const dates = (from: string, to: string) => (url: URL) =>
  [parse(url.searchParams.get(from) ?? ''), parse(url.searchParams.get(to) ?? '')] as const;
const queryOf = ({ body = '{}' }: PullRequest) => String((JSON.parse(body) as Row).query);

interface Case {
  readonly network: NetworkName;
  readonly origin: string;
  /** The window in a request. */
  readonly window: (url: URL, request: PullRequest) => readonly [number, number];
  /** The account in a request. */
  readonly account: (url: URL, request: PullRequest) => string;
  /** The network's answer: rows from a position, and how the next page is announced. Undefined if there are no pages. */
  readonly serve?: (request: PullRequest, rows: readonly number[], size: number) => Served;
}

interface Served {
  readonly rows: readonly number[];
  readonly response?: Row;
  readonly headers?: Readonly<Record<string, string>>;
}

const segment = (index: number) => (url: URL) => decodeURIComponent(url.pathname.split('/')[index] ?? '');
const pageOf = (rows: readonly number[], page: number, size: number) =>
  rows.slice((page - 1) * size, page * size);

const CASES: readonly Case[] = [
  {
    network: 'awin',
    origin: 'https://api.awin.com',
    window: dates('startDate', 'endDate'),
    account: segment(2),
  },
  {
    network: 'impact',
    origin: 'https://api.impact.com',
    window: dates('StartDate', 'EndDate'),
    account: segment(2),
    serve: ({ url }, rows, size) => {
      const asked = new URL(url);
      const page = Number(asked.searchParams.get('Page'));
      const pages = Math.ceil(rows.length / size);
      asked.searchParams.set('Page', String(page + 1));
      const link = page < pages ? asked.pathname + asked.search : '';
      const response = { '@page': String(page), '@numpages': String(pages), '@nextpageuri': link };
      return { rows: pageOf(rows, page, size), response };
    },
  },
  {
    network: 'partnerize',
    origin: 'https://api.partnerize.com',
    window: dates('start_date', 'end_date'),
    account: segment(4),
    serve: ({ url }, rows, size) => {
      const start = Number(new URL(url).searchParams.get('cursor_id') ?? 0);
      const end = start + size;
      return {
        rows: rows.slice(start, end),
        response: {},
        headers: end < rows.length ? { cursor_id: String(end) } : {},
      };
    },
  },
  {
    network: 'cj',
    origin: 'https://commissions.api.cj.com',
    window: (_url, request) => {
      const [, from, to] = /Date: "([^"]*)", before\w+: "([^"]*)"/.exec(queryOf(request)) ?? [];
      return [parse(from), parse(to)];
    },
    account: (_url, request) => {
      const [, list = '""'] = /forPublishers: \[("(?:[^"\\]|\\.)*")\]/.exec(queryOf(request)) ?? [];
      return JSON.parse(list) as string;
    },
    serve: (request, rows, size) => {
      const since = Number(/sinceCommissionId: "(\d+)"/.exec(queryOf(request))?.[1] ?? -1);
      const rest = rows.filter((row) => row > since);
      const records = rest.slice(0, size);
      const list = { payloadComplete: rest.length <= size, maxCommissionId: String(records.at(-1) ?? '') };
      return { rows: records, response: { data: { publisherCommissions: list } } };
    },
  },
  {
    network: 'rakuten',
    origin: 'https://api.linksynergy.com',
    window: dates('process_date_start', 'process_date_end'),
    account: (_url, request) => new URLSearchParams(request.body).get('scope') ?? '',
    serve: ({ url }, rows) => {
      const { searchParams } = new URL(url);
      return { rows: pageOf(rows, Number(searchParams.get('page')), Number(searchParams.get('limit'))) };
    },
  },
];

const account = fc
  .string({ minLength: 1, maxLength: 30, unit: 'grapheme-ascii' })
  .filter((text) => text.trim() === text);
const window = fc
  .tuple(fc.integer({ min: 0, max: 1_000 * DAY_MS }), fc.integer({ min: 1_000, max: 29 * DAY_MS }))
  .map(([ageMs, widthMs]): PullWindow => {
    const toMs = Math.floor((NOW_MS - ageMs) / 1_000) * 1_000;
    return { fromMs: toMs - Math.floor(widthMs / 1_000) * 1_000, toMs };
  });
const page = (
  response: Row | undefined,
  rowCount: number,
  headers: Readonly<Record<string, string>> = {},
): PulledPage => ({
  rowCount,
  response: response === undefined ? undefined : new Fields(response),
  info: {},
  header: (name) => headers[name] ?? null,
});

describe.each(CASES)('$network', (it) => {
  test('every stream requests its window and its account, at the address of the network', () => {
    fc.assert(
      fc.property(account, window, (name, asked) => {
        const pull = openPull(it.network, name);
        for (const { name: stream, windowMs } of [...pull.streams, ...(pull.reread ? [pull.reread] : [])]) {
          expect(windowMs).toBeLessThanOrEqual(44 * DAY_MS);
          const request = pull.request(stream, asked, undefined);
          const url = new URL(request.url);
          expect(url.origin).toBe(it.origin);
          const login = pull.login?.request({ clientId: 'a', clientSecret: 'b' });
          expect(it.account(url, login ?? request)).toBe(name);
          if (stream !== 'reread' || it.network !== 'impact')
            expect(it.window(url, request)).toEqual([asked.fromMs, asked.toMs]);
        }
      }),
      { seed: TEST_SEED, numRuns: 25 },
    );
  });

  test('a walk reads every row once, whatever the size of a page', () => {
    const { serve } = it;
    if (serve === undefined) return;
    const pull = openPull(it.network, '77777');
    const [stream] = pull.streams;
    // Rakuten's pages have 1,000 rows.
    const most = it.network === 'rakuten' ? 2_500 : 60;
    fc.assert(
      fc.property(window, fc.nat(most), fc.integer({ min: 1, max: 20 }), (asked, count, size) => {
        const rows = Array.from({ length: count }, (_, index) => index);
        const read: number[] = [];
        let position: string | undefined;
        for (let requests = 1; ; requests++) {
          expect(requests).toBeLessThanOrEqual(count + 2);
          const served = serve(pull.request(stream?.name ?? '', asked, position), rows, size);
          read.push(...served.rows);
          position = pull.next(page(served.response, served.rows.length, served.headers), position);
          if (position === undefined) break;
        }
        expect(read).toEqual(rows);
      }),
      { seed: TEST_SEED, numRuns: 25 },
    );
  });

  test('whatever a response contains, the next page is requested from the same address, for the same account', () => {
    const pull = openPull(it.network, '77777');
    const [stream] = pull.streams;
    const first = new URL(pull.request(stream?.name ?? '', { fromMs: 0, toMs: 1_000 }, undefined).url);
    const text = fc.oneof(
      fc.webUrl({ withQueryParameters: true }),
      fc.constantFrom(...LINKS),
      fc.string(),
      fc.nat().map(String),
    );
    const response = fc.record({
      '@page': text,
      '@numpages': text,
      '@nextpageuri': text,
      hypermedia: fc.record({ pagination: fc.record({ next_page: text }) }),
      data: fc.record({
        publisherCommissions: fc.record({ payloadComplete: fc.anything(), maxCommissionId: fc.anything() }),
      }),
    });
    fc.assert(
      fc.property(
        response,
        text,
        fc.nat(1_000),
        fc.option(text, { nil: undefined }),
        (fields, cursor, rowCount, position) => {
          let next: string | undefined;
          try {
            next = pull.next(page(fields, rowCount, { cursor_id: cursor }), position);
          } catch (error) {
            expect(error).toBeInstanceOf(BrokenFile);
            return;
          }
          if (next === undefined) return;
          const url = new URL(pull.request(stream?.name ?? '', { fromMs: 0, toMs: 1_000 }, next).url);
          expect([url.origin, url.pathname, url.username]).toEqual([first.origin, first.pathname, '']);
        },
      ),
      { seed: TEST_SEED, numRuns: 100 },
    );
  });
});

test('Partnerize: a page that announces a next page without its position is not the last page', () => {
  const [campaigns] = openCataloguePull(sourceFor('partnerize'))?.lists ?? [];
  const found = page({ hypermedia: { pagination: {} } }, 2);
  const more = { ...found, info: { hasMore: true }, rowsRead: 2 };
  expect(() => campaigns?.next(more, undefined)).toThrow(BrokenFile);
  expect(campaigns?.next({ ...more, info: { hasMore: false } }, undefined)).toBeUndefined();
});

/** Links that lead elsewhere, or seem to. */
const LINKS = [
  '/Mediapartners/77777/Actions?Page=2',
  '/Mediapartners/77777/Actions?Page=2#@evil.example',
  '/Mediapartners/88888/Actions?Page=2',
  '/Mediapartners/77777/Actions/../../88888/Actions?Page=2',
  '//evil.example/Mediapartners/77777/Actions?Page=2',
  '@evil.example/Mediapartners/77777/Actions?Page=2',
  'https://evil.example/?cursor_id=7',
];
