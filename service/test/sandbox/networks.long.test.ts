// The fake networks enforce the limits that the real networks document, and fail in the same ways. pull/networks.test.ts compares
// their sales with their own truth.

import { describe, expect, test } from 'bun:test';
import { ACCOUNTS, basic, NETWORKS } from '@offerbook/sandbox/networks/accounts.ts';
import { FakeNetworks, type FakeNetworksOptions } from '@offerbook/sandbox/networks/fake-networks.ts';
import { type Fault, randomFaults } from '@offerbook/sandbox/networks/faults.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '@offerbook/wire/time.ts';
import type { Row } from '../../../feeds/test/fixture.ts';

const JSON_ONLY = { Accept: 'application/json' };

const AUTHORISATION = {
  awin: `Bearer ${ACCOUNTS.awin.credentials.token}`,
  impact: basic(ACCOUNTS.impact.account, ACCOUNTS.impact.credentials.token),
  partnerize: basic(ACCOUNTS.partnerize.credentials.applicationKey, ACCOUNTS.partnerize.credentials.apiKey),
  cj: `Bearer ${ACCOUNTS.cj.credentials.token}`,
};

function ask(fakes: FakeNetworks, target: string, init: RequestInit = {}): Promise<Response> {
  return fakes.answer(new Request(`http://127.0.0.1${target}`, init));
}

async function read(fakes: FakeNetworks, target: string, init: RequestInit = {}): Promise<string> {
  const answer = await ask(fakes, target, init);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${target}: ${answer.status} ${text}`);
  return text;
}

function headersOf(authorization: string): { headers: Record<string, string> } {
  return { headers: { ...JSON_ONLY, Authorization: authorization } };
}

/** Asks for a token of Rakuten. */
function askToken(fakes: FakeNetworks, headers: Record<string, string> = JSON_ONLY): Promise<Response> {
  const { account, credentials } = ACCOUNTS.rakuten;
  const key = btoa(`${credentials.clientId}:${credentials.clientSecret}`);
  return ask(fakes, '/token', {
    method: 'POST',
    headers: { ...headers, Authorization: `Bearer ${key}` },
    body: new URLSearchParams({ scope: account }),
  });
}

async function rakutenHeaders(fakes: FakeNetworks) {
  const { access_token } = (await (await askToken(fakes)).json()) as { access_token: string };
  return headersOf(`Bearer ${access_token}`);
}

function cjQuery(
  filter: string,
  { fromMs, toMs }: { fromMs: number; toMs: number },
  sinceId?: string,
): string {
  const more = sinceId === undefined ? '' : `, sinceCommissionId: "${sinceId}"`;
  return `{ publisherCommissions(forPublishers: ["${ACCOUNTS.cj.account}"], since${filter}: "${printed(fromMs)}Z",
    before${filter}: "${printed(toMs)}Z"${more}) { payloadComplete maxCommissionId records { commissionId } } }`;
}

function askCj(fakes: FakeNetworks, query: string): Promise<string> {
  return read(fakes, '/query', {
    method: 'POST',
    ...headersOf(AUTHORISATION.cj),
    body: JSON.stringify({ query }),
  });
}

const NOW_MS = Date.parse('2026-11-14T12:00:00Z');
const HISTORY_DAYS = 400;
const SINCE_MS = NOW_MS - HISTORY_DAYS * DAY_MS;

function open(options: Partial<FakeNetworksOptions> = {}): FakeNetworks {
  return new FakeNetworks({
    seed: 1,
    sinceMs: SINCE_MS,
    density: { salesPerDay: 6, cellMs: 360 * MINUTE_MS },
    logoUrl: (id) => `https://logos.example/${id}.svg`,
    clock: () => NOW_MS,
    areRatesEnforced: false,
    pageSizeMax: 40,
    ...options,
  });
}

/** For tests that change nothing in it. */
const shared = open();

const DAY = { fromMs: NOW_MS - DAY_MS, toMs: NOW_MS };
const printed = (ms: number) => new Date(ms).toISOString().slice(0, 19);

function actions(days: number, more = ''): string {
  const from = printed(NOW_MS - days * DAY_MS);
  return `/Mediapartners/${ACCOUNTS.impact.account}/Actions?StartDate=${from}Z&EndDate=${printed(NOW_MS)}Z${more}`;
}

function transactions(days: number): string {
  const from = printed(NOW_MS - days * DAY_MS);
  return `/publishers/${ACCOUNTS.awin.account}/transactions/?startDate=${from}&endDate=${printed(NOW_MS)}&timezone=UTC`;
}

async function statusesOf(count: number, send: () => Promise<Response>): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, async () => (await send()).status));
}

describe('limits of the networks', () => {
  test('Awin accepts 31 calendar days, impact.com 45 and CJ 31, and each refuses one day more', async () => {
    const fakes = shared;
    const status = async (target: string, auth: string) => (await ask(fakes, target, headersOf(auth))).status;
    expect(await status(transactions(30), AUTHORISATION.awin)).toBe(200);
    expect(await status(transactions(31), AUTHORISATION.awin)).toBe(400);
    expect(await status(actions(44), AUTHORISATION.impact)).toBe(200);
    expect(await status(actions(45), AUTHORISATION.impact)).toBe(400);
    const query = (days: number) => cjQuery('PostingDate', { fromMs: NOW_MS - days * DAY_MS, toMs: NOW_MS });
    expect(await askCj(fakes, query(30))).not.toContain('errors');
    expect(JSON.parse(await askCj(fakes, query(31)))).toEqual({
      data: null,
      errors: [
        {
          message: 'the period from sincePostingDate to beforePostingDate must not exceed 31 days',
          path: ['publisherCommissions'],
        },
      ],
    });
  });

  test('Awin rejects the 21st request in a minute, without a Retry-After header', async () => {
    let nowMs = NOW_MS;
    const fakes = open({ sinceMs: DAY.fromMs, areRatesEnforced: true, clock: () => nowMs });
    const send = () => ask(fakes, transactions(1), headersOf(AUTHORISATION.awin));
    const statuses = await statusesOf(20, send);
    const refused = await send();
    expect([statuses, refused.status]).toEqual([Array(20).fill(200), 429]);
    expect([...refused.headers.keys()]).toEqual(['content-type']);
    nowMs += MINUTE_MS;
    expect((await send()).status).toBe(200);
  });

  test('impact.com reports its rate limit in headers, Partnerize states how long to wait, and Rakuten returns 403', async () => {
    const fakes = open({ sinceMs: DAY.fromMs, areRatesEnforced: true });
    const send = () => ask(fakes, actions(1), headersOf(AUTHORISATION.impact));
    expect(Object.fromEntries((await send()).headers)).toMatchObject({
      'x-ratelimit-limit': '1000',
      'x-ratelimit-remaining': '999',
      'x-ratelimit-reset': '3600',
    });
    const faulty = open({ sinceMs: DAY.fromMs, faults: () => 'too many requests' });
    const { account } = ACCOUNTS.partnerize;
    const campaigns = `/user/publisher/${account}/campaign/a.json`;
    const refused = await ask(faulty, campaigns, headersOf(AUTHORISATION.partnerize));
    expect([refused.status, refused.headers.get('X-RateLimit-Retry-After')]).toEqual([429, '1']);
    expect((await askToken(faulty)).status).toBe(403);
  });

  test('a response of CJ ends at its limit, and the next one continues after the greatest commission id', async () => {
    const fakes = open({
      pageSizeMax: 7,
      sinceMs: DAY.fromMs,
      density: { salesPerDay: 300, cellMs: 360 * MINUTE_MS },
    });
    const { data } = JSON.parse(await askCj(fakes, cjQuery('PostingDate', DAY)));
    const { payloadComplete, maxCommissionId, records } = data.publisherCommissions;
    expect([payloadComplete, records.length, maxCommissionId]).toEqual([false, 7, records[6].commissionId]);
    const next = JSON.parse(await askCj(fakes, cjQuery('PostingDate', DAY, maxCommissionId)));
    const [first] = next.data.publisherCommissions.records;
    expect(Number(first.commissionId)).toBeGreaterThan(Number(maxCommissionId));
  });

  test('every network refuses wrong credentials, and Awin ignores a token in the query', async () => {
    const fakes = shared;
    const { token } = ACCOUNTS.awin.credentials;
    expect((await ask(fakes, `${transactions(1)}&accessToken=${token}`)).status).toBe(401);
    expect((await ask(fakes, actions(1), headersOf('Basic eDp5'))).status).toBe(401);
    expect((await ask(fakes, '/query', { method: 'POST', body: '{}' })).status).toBe(401);
    const report = `/user/publisher/${ACCOUNTS.partnerize.account}/campaign/a.json`;
    expect((await ask(fakes, report)).status).toBe(401);
    expect((await ask(fakes, '/v1/offers', headersOf('Bearer x'))).status).toBe(401);
  });

  test("impact.com and Rakuten's token service respond in XML unless the client accepts JSON", async () => {
    const fakes = shared;
    const { Authorization } = headersOf(AUTHORISATION.impact).headers;
    expect(await read(fakes, actions(1), { headers: { Authorization: `${Authorization}` } })).toStartWith(
      '<?xml',
    );
    expect(await (await askToken(fakes, {})).text()).toStartWith('<?xml');
  });

  test("Rakuten's tokens expire, and a second token can be refused while the first is valid", async () => {
    let nowMs = NOW_MS;
    const fakes = open({
      sinceMs: DAY.fromMs,
      clock: () => nowMs,
      tokenLifeMs: 60 * SECOND_MS,
      isSecondTokenRefused: true,
    });
    const headers = await rakutenHeaders(fakes);
    expect((await askToken(fakes)).status).toBe(403);
    expect((await ask(fakes, '/v1/offers', headers)).status).toBe(200);
    nowMs += 60 * SECOND_MS;
    expect((await ask(fakes, '/v1/offers', headers)).status).toBe(401);
    expect((await askToken(fakes)).status).toBe(200);
  });

  test('Rakuten refuses to look back more than 30 days, and has no rows older than 14 days', async () => {
    const fakes = shared;
    const headers = await rakutenHeaders(fakes);
    const events = (from: number, to: number) =>
      `/events/1.0/transactions?process_date_start=${printed(NOW_MS - from * DAY_MS)}&process_date_end=${printed(NOW_MS - to * DAY_MS)}`;
    expect((await ask(fakes, events(31, 20), headers)).status).toBe(400);
    expect(await read(fakes, events(29, 14), headers)).toBe('[]');
    expect(await read(fakes, events(13, 0), headers)).not.toBe('[]');
  });
});

describe('faults', () => {
  const faulty = (...faults: (Fault | undefined)[]) =>
    open({
      sinceMs: NOW_MS - 60 * DAY_MS,
      faults: (_network, number) => faults[number - 1],
    });
  const awin = (fakes: FakeNetworks) => ask(fakes, transactions(30), headersOf(AUTHORISATION.awin));

  test('a response can be an HTML page, empty, truncated, or cut off by a connection reset', async () => {
    const fakes = faulty('page', 'blank', 'cut', undefined);
    expect(await (await awin(fakes)).text()).toStartWith('<!doctype html>');
    expect(await (await awin(fakes)).text()).toBe('');
    const [cut, whole] = [await (await awin(fakes)).text(), await (await awin(fakes)).text()];
    expect(cut.length).toBeLessThan(whole.length);
    expect(whole).toStartWith(cut);
    const resetting = faulty('reset', undefined);
    using server = Bun.serve({ port: 0, development: false, fetch: (request) => resetting.answer(request) });
    const send = () => fetch(new URL(transactions(30), server.url), headersOf(AUTHORISATION.awin));
    expect(send().then((reset) => reset.text())).rejects.toThrow('ECONNRESET');
    expect(await (await send()).text()).toBe(whole);
  });

  test('server errors and exceeded limits affect single requests, and later requests succeed', async () => {
    const fakes = faulty('server error', 'too many requests', 'retry after');
    const statuses = [(await awin(fakes)).status, (await awin(fakes)).status];
    expect([500, 502, 503]).toContain(statuses[0] ?? 0);
    expect(statuses[1]).toBe(429);
    const waiting = await awin(fakes);
    expect([waiting.status, waiting.headers.get('Retry-After')]).toEqual([429, '1']);
    expect((await awin(fakes)).status).toBe(200);
  });

  test('a row of impact.com can move to an earlier page during a walk, and the total then changes', async () => {
    const fakes = faulty(undefined, 'drift', undefined);
    const page = async (number: number) =>
      JSON.parse(
        await read(fakes, actions(44, `&PageSize=10&Page=${number}`), headersOf(AUTHORISATION.impact)),
      );
    const [first, second, honest] = [await page(1), await page(2), await page(2)];
    expect(second['@total']).toBe(String(Number(first['@total']) - 1));
    // The first row of the honest second page has moved to the first page, so it is on neither page of this walk.
    const moved = honest.Actions[0].Id;
    expect([...first.Actions, ...second.Actions].map(({ Id }) => Id)).not.toContain(moved);
  });

  test('impact.com can link a page to itself, and can send an empty list in four forms', async () => {
    const fakes = open({ sinceMs: DAY.fromMs, faults: () => 'self link' });
    const answer = JSON.parse(await read(fakes, actions(1), headersOf(AUTHORISATION.impact)));
    expect(answer['@nextpageuri']).toBe(answer['@uri']);
    const empty = open({
      sinceMs: DAY.fromMs,
      faults: () => 'odd empty',
      density: { salesPerDay: 0, cellMs: DAY_MS },
    });
    const bodies = new Set<string>();
    for (let second = 0; second < 4; second++) {
      const target = actions(1).replace(
        'StartDate=2026-11-13T12:00:00',
        `StartDate=2026-11-13T12:00:0${second}`,
      );
      bodies.add(await read(empty, target, headersOf(AUTHORISATION.impact)));
    }
    expect(bodies).toEqual(new Set(['null', '{}', '[]', '{"Actions":[]}']));
  });

  test('CJ can report an error with status 200, and can send an incomplete response below its limit', async () => {
    const fakes = faulty('query error', 'incomplete');
    expect(JSON.parse(await askCj(fakes, cjQuery('PostingDate', DAY)))).toMatchObject({
      data: null,
      errors: [{ message: 'Internal server error' }],
    });
    const span = { fromMs: NOW_MS - 20 * DAY_MS, toMs: NOW_MS };
    const { data } = JSON.parse(await askCj(fakes, cjQuery('PostingDate', span)));
    expect(data.publisherCommissions.payloadComplete).toBe(false);
  });

  test('a Rakuten token can expire early', async () => {
    const fakes = faulty(undefined, 'expired token');
    const headers = await rakutenHeaders(fakes);
    expect((await ask(fakes, '/v1/offers', headers)).status).toBe(401);
  });

  test('a Rakuten page can start with the last row of the previous page', async () => {
    const fakes = faulty(undefined, undefined, 'repeated row');
    const headers = await rakutenHeaders(fakes);
    const page = async (number: number) => {
      const target = `/events/1.0/transactions?process_date_start=${printed(NOW_MS - 13 * DAY_MS)}&process_date_end=${printed(NOW_MS)}&limit=5&page=${number}`;
      return JSON.parse(await read(fakes, target, headers)) as Row[];
    };
    const [first, second] = [await page(1), await page(2)];
    expect(second[0]).toEqual(first.at(-1) ?? {});
    expect(second).toHaveLength(6);
  });

  test('a random plan is the same for the same seed, and every network gets every one of its faults', () => {
    const draws = (seed: number) =>
      NETWORKS.map((network) =>
        Array.from({ length: 1000 }, (_, index) => randomFaults(seed, 0.3)(network, index + 1)),
      );
    expect(draws(1)).toEqual(draws(1));
    expect(draws(2)).not.toEqual(draws(1));
    const [, impact = []] = draws(1).map((faults) => new Set(faults));
    expect([...impact].toSorted()).toEqual([
      'blank',
      'cut',
      'drift',
      'odd empty',
      'page',
      'reset',
      'retry after',
      'self link',
      'server error',
      'too many requests',
      undefined,
    ] as never);
  });
});
