// Compares the console's pages with the database and with the requests that were made.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { readTransactionTotals } from '../../src/console/counts/transaction-totals.ts';
import type { Organisation } from '../../src/domain/organisation.ts';
import { DATABASES } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { coupon, id, offer, retailer, timestamp, transaction } from '../support/fixtures.ts';
import { ConsoleNode, ShownPage } from './open-console.ts';

const DAY_MS = 86_400_000;
const LONGEST = '€'.repeat(85);
const HOSTILE = '<img src=x onerror=alert(1)>"\'&';

const printed = (ms: number) => printTimestamp(ms).slice(0, 19).replace('T', ' ');

describe.each(DATABASES)('$name', (database) => {
  let console_: ConsoleNode;
  let acme: Organisation;
  let beganMs: number;
  let soonMs: number;

  function click(activatedAtMs: number, number: number) {
    const of = { kind: 'retailers', dealId: id(number), retailerId: id(number) } as const;
    return recordClick(console_.node.stores, acme.id, { ...of, activatedAtMs, isTracked: number === 1 });
  }

  beforeAll(async () => {
    beganMs = Date.now();
    soonMs = Math.floor(beganMs / 1_000) * 1_000 + 2 * DAY_MS;
    console_ = await ConsoleNode.start({
      databaseUrl: await database.create(),
      settings: { publicUrl: 'https://offers.example', explorer: 'on' },
    });
    const { node } = console_;
    acme = await node.organisation('acme');
    await node.organisation('quiet');
    const soon = coupon(21, { description: HOSTILE, endDate: timestamp(printTimestamp(soonMs)) });
    const ended = coupon(22, { endDate: timestamp(printTimestamp(beganMs - DAY_MS)) });
    const deals = { cashbackOffers: [offer(11)], coupons: [soon, ended] };
    const first = retailer(1, { name: HOSTILE, hostname: HOSTILE, ...deals });
    await console_.importCatalogue([first, retailer(2, { cashbackOffers: [offer(12)] }), retailer(3)]);
    await console_.importCatalogue([first, retailer(2, { cashbackOffers: [offer(12)] })]);
    await console_.importTransactions([
      transaction(101, { cashbackOfferId: id(11), cashback: 0.1, orderValue: 10 }),
      transaction(102, { cashbackOfferId: id(11), cashback: 0.2, passbackUid: HOSTILE }),
      transaction(103, {
        couponId: id(99),
        soldAt: timestamp('2026-06-01T00:00:00'),
        currencyCode: 'SEK',
        passbackUid: LONGEST,
      }),
    ]);
    await console_.importTransactions([
      transaction(101, { cashbackOfferId: id(11), cashback: 0.1, orderValue: 10, status: 'DECLINED' }),
    ]);
    await console_
      .importTransactions([transaction(104), { ...transaction(105), status: 'LOST' as never }])
      .catch(() => undefined);
    // Two clicks of today without a sale, one with a sale, and one old click.
    const sold = await click(beganMs, 1);
    await node.stores.clicks.markSold([sold.id]);
    await click(beganMs, 1);
    await click(beganMs, 2);
    await click(beganMs - 60 * DAY_MS, 2);
  });

  afterAll(async () => {
    await console_?.[Symbol.asyncDispose]();
  });

  test("the overview shows the node's requests and warns of a rejected import and an expiring token", async () => {
    const { node } = console_;
    const before = await console_.page('/');
    expect(before.html).toMatch(
      /<a href="\/imports\?kind=transactions">.*<bdi>of &quot;acme&quot; from &quot;sandbox&quot; succeeded .*, but the last one was refused /,
    );
    const reason = 'offerbook imports list --kind transactions';
    expect(before.commands).toEqual([reason, 'offerbook tokens issue --org NAME --kind KIND']);
    const token = await node.token('public', 'acme', Date.now() + 3 * DAY_MS);
    for (const [path, status] of [
      ['/v1/coupons/', 200],
      ['/v1/coupons/', 200],
      ['/v1/coupons/?limit=none', 400],
    ] as const)
      expect((await node.get(path, token)).status).toBe(status);
    const page = await console_.page('/');
    expect(page.facts).toMatchObject({
      'Refused (4xx)': '33.3%',
      'Failed (5xx)': '0.0%',
      Ready: 'ready',
      Database: 'usable',
      Replica: 'none',
      'Workers ready': '1 of 1',
      'Catalogue revision': String((await node.stores.revisions()).catalogue),
    });
    const today = printTimestamp(beganMs).slice(0, 10);
    expect(page.facts).toMatchObject({
      'Clicks today': '3 (0 a week ago)',
      'Sales today': '0 (0 a week ago)',
    });
    expect(page.table('Clicks per day')?.at(-1)).toEqual([today, '3', '0']);
    expect(page.table('Rows imported per day')?.at(-1)).toEqual([today, '6', '1', '1']);
    expect(page.table('Errors per minute')?.at(-1)?.slice(1)).toEqual(['1', '0']);
    const [row] = page.table('Requests by operation') ?? [];
    expect(row?.slice(0, 4)).toEqual(['/v1/coupons/', '3', '33.3%', '0.0%']);
    const { tokens } = await node.stores.tokens.list();
    expect(page.commands).toEqual([reason, `offerbook tokens rotate ${tokens[0]?.id}`]);
    // Every metric that the page names exists.
    const metrics = await (await console_.get('/metrics')).text();
    const named = page.sources.filter((name) => name.startsWith('offerbook_'));
    expect(named.filter((name) => !metrics.includes(name) && !name.includes('replica'))).toEqual([]);
  });

  test('the catalogue page shows the revision, items, ending deals, retailers without a domain, and the number of retailers after each import', async () => {
    const { node } = console_;
    const page = await console_.page('/catalogue');
    const [second, first] = await node.stores.imports.list({ kind: 'catalogue', limit: 2 });
    const { catalogue: revision } = await node.stores.revisions();
    expect(page.facts).toEqual({
      'Revision served': String(revision),
      'Revision stored': String(revision),
      'Last imported': printed(second?.beganAtMs ?? 0),
      'Deals ending within a week': '1',
      'Retailers without a domain': '1',
      Retailers: '2',
      'Cashback offers': '2',
      Coupons: '1',
      Promotions: '0',
    });
    expect(page.table('Retailers stored after each import')).toEqual([
      [printed(first?.beganAtMs ?? 0), '3'],
      [printed(second?.beganAtMs ?? 0), '2'],
    ]);
    expect(page.table('Deals ending within a week')).toEqual([[HOSTILE, 'Coupon', HOSTILE, printed(soonMs)]]);
    expect(page.table('Retailers without a domain')).toEqual([[HOSTILE, HOSTILE]]);
    expect(page.html).not.toContain('<img');
  });

  test('the imports pages show the import log by kind and outcome, rows by day, and the problems of one import', async () => {
    const { stores } = console_.node;
    const entries = await stores.imports.list({ limit: 100 });
    const page = await console_.page('/imports');
    expect(page.table('Imports, newest first')).toEqual(
      entries.map(({ id: entry, beganAtMs, kind, orgName, outcome, counts, fileName }) => [
        ...[String(entry), printed(beganAtMs), kind, orgName ?? '', outcome],
        ...[counts.read, counts.added, counts.changed, counts.withdrawn, counts.invalid].map(String),
        fileName,
      ]),
    );
    const { feeds } = await stores.imports.totals();
    expect(feeds.map(({ kind, lastOutcome }) => [kind, lastOutcome])).toEqual([
      ['catalogue', 'done'],
      ['transactions', 'refused'],
    ]);
    expect(page.table('Freshness by organisation and source')).toEqual(
      feeds.map(({ kind, orgName, source, lastSuccessMs, lastEndedMs, lastOutcome }) => [
        ...[kind, orgName ?? '', source ?? ''],
        ...[lastSuccessMs, lastEndedMs].map((ms) => printed(ms ?? 0)),
        lastOutcome,
      ]),
    );
    const outcomes = (shown = page) => shown.table('Imports, newest first')?.map((row) => row[4]);
    expect(outcomes()).toEqual(['refused', 'done', 'done', 'done', 'done']);
    expect(outcomes(await console_.page('/imports?kind=transactions&outcome=done'))).toEqual([
      'done',
      'done',
    ]);
    expect(outcomes(await console_.page('/imports?kind=nonsense'))).toHaveLength(5);
    const days = page.table('Rows per day, last 30 days') ?? [];
    const sums = [1, 2, 3, 4, 5, 6].map((i) => days.reduce((sum, row) => sum + Number(row[i]), 0));
    // Retailers and transactions together. The second catalogue withdrew one retailer and left two unchanged.
    expect(sums).toEqual([6, 1, 2, 0, 1, 1]);

    const refused = await console_.page(`/imports/${entries[0]?.id}`);
    expect(refused.facts).toMatchObject({
      Organisation: 'acme',
      Read: '2',
      Added: '0',
      Invalid: '1',
      'SHA-256': entries[0]?.fileDigest ?? 'unknown',
    });
    expect(refused.html).toContain('<p><bdi>1 of 2 rows is invalid</bdi></p>');
    expect(refused.table('Problems')).toEqual([
      ['2', '', 'status', 'must be one of PENDING, CONFIRMED, DECLINED'],
    ]);
    for (const path of ['/imports/999999', '/imports/x', `/imports/${'9'.repeat(40)}`])
      expect([path, (await console_.page(path)).status]).toEqual([path, 404]);
  });

  test("an organisation's lag is the age of the oldest change since its last complete poll", async () => {
    const { node } = console_;
    const token = await node.token('private');
    const row = async (name: string) =>
      (await console_.page('/organisations')).table('Organisations')?.find(([org]) => org === name);
    const before = await row('acme');
    const clock = (await node.stores.organisations.changeClocks()).get(acme.id) ?? 0;
    expect(before?.slice(1, 5)).toEqual([acme.publicId, printed(clock), 'never', 'unknown']);
    expect((await row('quiet'))?.toSpliced(1, 1)).toEqual([
      ...['quiet', 'none', 'never', 'unknown', 'unknown'],
      ...['0', '0', '–'],
    ]);
    // A page that is not the last, a page of one user, and a window with an upper bound do not deliver every change.
    await node.get('/v1/transactions/?limit=1', token);
    await node.get('/v1/transactions/?passbackUid=user-1', token);
    await node.get('/v1/transactions/?updatedAtLessThan=2100-01-01T00:00:00', token);
    expect((await row('acme'))?.[4]).toBe('unknown');
    await node.get('/v1/transactions/', token);
    const after = await row('acme');
    expect(after?.[4]).toBe('up to date');
    expect(after?.[5]).toBe(printed(clock));
    expect(Number(after?.[7])).toBe(Number(before?.[7]) + 4);
    const withRetailer = { ...transaction(106), retailerId: id(2) };
    await console_.importTransactions([withRetailer]);
    expect((await row('acme'))?.[4]).toMatch(/^\d+ (ms|s)$/);

    const page = await console_.page('/organisations');
    const { tokens } = await node.stores.tokens.list();
    const shown = page.table('Tokens')?.map(([tokenId, org, kind]) => [tokenId, org, kind]);
    expect(shown).toEqual(tokens.map(({ id: tokenId, orgName, kind }) => [tokenId, orgName, kind]));
    expect(page.html).not.toContain(token);
  });

  test('a transaction can be found by id, by user, by organisation and by time, with every version and its import', async () => {
    const { stores } = console_.node;
    const ids = (page: Awaited<ReturnType<ConsoleNode['page']>>) =>
      page.table('Transactions')?.map(([transactionId]) => transactionId);
    const search = async (q: string) => {
      const body = new URLSearchParams({ q });
      const url = `${console_.url}/transactions`;
      const answer = await fetch(url, { method: 'POST', body, redirect: 'manual' });
      return answer.status === 303
        ? answer.headers.get('Location')
        : ids(new ShownPage(await answer.text(), answer.status));
    };
    const { publicId } = acme;
    expect(await search(` ${id(103).toUpperCase()} `)).toBe(`/transactions/${id(103)}`);
    expect(await search('Acme')).toBe(`/transactions?org=${publicId}`);
    expect(await search(publicId)).toBe(`/transactions?org=${publicId}`);
    expect(await search(HOSTILE)).toEqual([id(102)]);
    // The longest value that an import accepts, in characters that take nine bytes each in a form.
    expect(await search(LONGEST)).toEqual([id(103)]);
    expect(await search('user-9')).toBeUndefined();
    expect((await console_.post('/transactions', { q: '€'.repeat(65_537) })).status).toBe(400);
    // The page contains neither the search text nor a link with it, because others may see the page.
    const byUser = await console_.post('/transactions', { q: HOSTILE });
    expect(byUser.html).not.toContain('onerror');

    const latest = await console_.page('/transactions');
    expect(ids(latest)).toEqual([106, 101, 103, 102].map(id));
    // The row of 106 names its retailer.
    expect(latest.table('Transactions')?.[0]?.slice(0, 3)).toEqual([id(106), 'acme', 'Retailer 2']);
    expect((await console_.page(`/transactions/${id(106)}`)).facts.Retailer).toBe('Retailer 2');
    expect(latest.table('Transactions')?.[1]).toEqual([
      ...[id(101), 'acme', 'unknown', 'DECLINED', '10.00 EUR', '0.10 EUR', '2026-11-14 12:00:00'],
      printed((await stores.history.versions(id(101)))[0]?.fromMs ?? 0),
    ]);
    expect(ids(await console_.page('/transactions?org=acme&from=2020-01-01'))).toHaveLength(4);
    expect(ids(await console_.page(`/transactions?org=${publicId}&until=2020-01-01`))).toBeUndefined();
    for (const query of ['org=nobody', `org=${publicId}&from=yesterday`]) {
      const page = await console_.page(`/transactions?${query}`);
      expect([query, page.status, page.html.includes('role="alert"')]).toEqual([query, 400, true]);
    }

    const versions = await stores.history.versions(id(101));
    const page = await console_.page(`/transactions/${id(101)}`);
    expect(page.title).toBe(`Transaction ${id(101)}`);
    expect(page.facts).toMatchObject({ Status: 'DECLINED', Organisation: 'acme', Retailer: HOSTILE });
    expect(page.facts).toMatchObject({ passbackUid: 'user-101', cashback: '0.10 EUR', couponId: '–' });
    expect(page.table('Versions, newest first')).toEqual(
      versions.map(({ fromMs, untilMs, status, importId }) => [
        printed(fromMs),
        untilMs === null ? 'now' : printed(untilMs),
        status,
        ...['10.00 EUR', '0.10 EUR'],
        `${importId}: synthetic data`,
        expect.stringContaining('@'),
      ]),
    );
    expect(versions).toHaveLength(2);
    expect((await console_.page(`/transactions/${id(1)}`)).status).toBe(404);
  });

  test("a passbackUid appears on its transaction's page, and not in any URL, log line or metric", async () => {
    const page = await console_.page(`/transactions/${id(102)}`);
    expect(page.facts.passbackUid).toBe(HOSTILE);
    const metrics = await (await console_.get('/metrics')).text();
    const log = console_.node.logLines.join('');
    for (const text of [metrics, log]) expect(text).not.toContain('onerror');
    const others = [
      '/',
      '/transactions',
      '/imports',
      '/totals',
      '/organisations',
      '/webhooks',
      '/errors',
      '/clicks',
    ];
    for (const path of others) expect((await console_.page(path)).html).not.toContain('user-10');
  });

  test('the totals page and its CSV file show exact sums by organisation, currency, period and status', async () => {
    const page = await console_.page('/totals');
    const rows = [
      ['2026-11', 'acme', 'DECLINED', '1', '10.00 EUR', '0.10 EUR'],
      ['2026-11', 'acme', 'PENDING', '2', '159.80 EUR', '4.19 EUR'],
      ['2026-06', 'acme', 'PENDING', '1', '79.90 SEK', '3.99 SEK'],
    ];
    expect(page.table('Totals by organisation, currency and month')).toEqual(rows);
    expect(page.table('Totals by organisation and currency')).toEqual([
      ['acme', 'EUR', '3', '4.19 EUR', '0.00 EUR', '0.10 EUR'],
      ['acme', 'SEK', '1', '3.99 SEK', '0.00 SEK', '0.00 SEK'],
    ]);
    expect(page.facts).toEqual({ Transactions: '4', Pending: '3', Confirmed: '0', Declined: '1' });
    // Amounts of different currencies cannot be added, so the plot of all currencies counts transactions.
    expect(page.table('Transactions by month of the sale')).toEqual([
      ['2026-06', '1', '0', '0'],
      ['2026-11', '2', '0', '1'],
    ]);
    const pending = page.table('Pending transactions by age') ?? [];
    expect(pending.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(3);

    const euros = await console_.page('/totals?currency=EUR');
    expect(euros.table('Cashback in EUR by month of the sale')).toEqual([
      ['2026-11', '4.19 EUR', '0.00 EUR', '0.10 EUR'],
    ]);
    expect(euros.facts.Pending).toBe('2 4.19 EUR');
    const declined = await console_.page('/totals?status=DECLINED&currency=EUR');
    expect(declined.table('Cashback in EUR by month of the sale')).toEqual([['2026-11', '0.10 EUR']]);
    expect(declined.html).toContain('href="/totals.csv?currency=EUR&amp;status=DECLINED"');

    const file = await console_.get('/totals.csv?currency=EUR');
    expect(file.headers.get('Content-Type')).toBe('text/csv; charset=utf-8; header=present');
    expect(await file.text()).toBe(
      'organisation,currency,month,status,transactions,orderValue,cashback\r\n' +
        'acme,EUR,2026-11,DECLINED,1,10.00,0.10\r\nacme,EUR,2026-11,PENDING,2,159.80,4.19\r\n',
    );
    const { publicId } = await console_.node.organisation('quiet');
    expect((await console_.page(`/totals?org=${publicId}`)).html).toContain('No transactions.');
  });

  test('the totals page shows the last 90 days by day', async () => {
    const sale = (number: number, ageDays: number) =>
      transaction(number, { currencyCode: 'USD', soldAt: printTimestamp(Date.now() - ageDays * DAY_MS) });
    await console_.importTransactions([sale(401, 0), sale(402, 89), sale(403, 91)], '=days "of", sale');
    const page = await console_.page('/totals?by=day&currency=USD');
    const day = (ageDays: number) => printTimestamp(Date.now() - ageDays * DAY_MS).slice(0, 10);
    expect(page.table('Cashback in USD by day of the sale')).toEqual([
      [day(89), '3.99 USD', '0.00 USD', '0.00 USD'],
      [day(0), '3.99 USD', '0.00 USD', '0.00 USD'],
    ]);
    const lines = (await (await console_.get('/totals.csv?by=day&currency=USD')).text()).split('\r\n');
    expect(lines[1]).toBe(`"'=days ""of"", sale",USD,${day(89)},PENDING,1,79.90,3.99`);
  });

  test('the webhooks page shows state and lag, but neither the path of the URL nor a secret', async () => {
    const { stores } = console_.node;
    const org = await console_.node.organisation('hooked');
    const created = await stores.webhooks.create(org.id, 'https://hooks.example/secret-path', 0);
    await stores.webhooks.pause(created.id);
    const page = await console_.page('/webhooks');
    expect(page.table('Webhooks')).toEqual([
      [
        ...[`https://hooks.example ${created.id}`, 'hooked', 'paused by the operator'],
        ...['none', 'none', 'none', '', 'never'],
      ],
    ]);
    expect(page.html).not.toContain('secret-path');
    expect(await (await console_.get('/metrics')).text()).toContain('offerbook_webhooks{state="paused"} 1');
  });

  test('the pulls page shows the position, next run and last error of each stream, and the budget of each source', async () => {
    const { stores } = console_.node;
    const org = await console_.node.organisation('pulled');
    const source = 'awin:77777';
    const counts = { added: 3, changed: 2, unchanged: 1, invalid: 0, withdrawn: 0 };
    const hourAgoMs = Date.now() - 3_600_000;
    for (const runMs of [hourAgoMs, hourAgoMs + 1_800_000]) {
      await stores.transactions.write(org.id, ({ pulls }) =>
        pulls.advance(
          { source, orgId: org.id, stream: 'validation' },
          { completeThroughMs: runMs, counts, runMs },
        ),
      );
    }
    await stores.pulls.noteFailure({ source, orgId: org.id, stream: 'amendment' }, 'status 401');
    const budget = { intervalMs: 3_750, burst: 4 };
    await stores.pulls.reserveRequest('digest of the secret', budget);
    await stores.pulls.countRequest(source, 'digest of the secret', 'ok');
    await stores.pulls.countRequest(source, 'digest of an old secret', 'refused');
    const page = await console_.page('/pulls');
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    expect(page.table('Streams')).toEqual([
      [source, 'amendment', 'pulled', 'failed', 'never', 'never', 'unknown', '0', '0', '0', '0'],
      [source, 'validation', 'pulled', 'ok', time, time, time, '6', '4', '2', '0'],
    ]);
    expect(page.table('Last errors')).toEqual([[source, 'amendment', time, 'status 401']]);
    expect(page.table('Requests to networks')).toEqual([[source, '1', '0', '0', '1', '16.0', '3', 'now']]);
    expect(page.html).not.toContain('digest of');
    expect(await (await console_.get('/metrics')).text()).toContain(
      `offerbook_pull_requests_total{source="${source}",outcome="refused"} 1`,
    );
  });

  test('the clicks page shows clicks and sales by day, organisation and retailer', async () => {
    const page = await console_.page('/clicks');
    const sums = (row: string[] | undefined) => row?.slice(0, 5);
    expect(page.table('Clicks by retailer')?.map(sums)).toEqual([
      [HOSTILE, '2', '100.0%', '1', '50.0%'],
      ['Retailer 2', '1', '0.0%', '0', '0.0%'],
    ]);
    expect(page.html).toContain(
      `<a href="https://offers.example/?retailer=${id(2)}"><bdi>Retailer 2</bdi></a>`,
    );
    expect(page.table('Clicks by organisation')?.map(sums)).toEqual([['acme', '3', '66.7%', '1', '33.3%']]);
    expect(page.html).toContain('<th scope="row"><a href="/transactions?org=acme"><bdi>acme</bdi></a></th>');
    const days = page.table('Clicks per day, last 30 days') ?? [];
    expect(days).toHaveLength(30);
    expect(days.filter(([, count]) => count !== '0')).toEqual([
      [printTimestamp(beganMs).slice(0, 10), '3', '2', '1'],
    ]);
    // The explorer has no page for a retailer that is not in the catalogue.
    await click(beganMs, 9);
    expect((await console_.page('/clicks')).html).toContain(`<th scope="row"><bdi>${id(9)}</bdi></th>`);
  });

  test('the errors page groups errors by code, operation and organisation, with the id of the last request', async () => {
    const { node } = console_;
    const token = await node.token('public', 'quiet');
    for (const requestId of ['first-one', 'last-one'])
      await node.get('/v1/promotions/?cursor=x', token, { 'Request-Id': requestId });
    await node.get('/v1/promotions/', undefined, { 'Request-Id': 'nobody' });
    const rows = (await console_.page('/errors')).table('Errors, latest first') ?? [];
    const promotions = rows.filter((row) => row[2] === '/v1/promotions/').toSorted();
    expect(
      promotions.map(([code, status, , org, count, , requestId]) => [code, status, org, count, requestId]),
    ).toEqual([
      ['invalid_parameter', '400', 'quiet', '2', 'last-one'],
      ['missing_token', '401', 'unknown', '1', 'nobody'],
    ]);
    const ofQuiet = (await console_.page('/errors?org=quiet')).table('Errors, latest first') ?? [];
    expect(ofQuiet.map(([code, , , org]) => [code, org])).toEqual([['invalid_parameter', 'quiet']]);
    const metrics = await (await console_.get('/metrics')).text();
    expect(metrics).toContain(
      'offerbook_http_errors_total{route="/v1/promotions/",code="invalid_parameter"} 2\n',
    );
    expect(metrics).toContain('offerbook_organisation_errors_total{organisation="quiet"} 2\n');
  });

  test('the console rejects methods that write, and its pages are not cached', async () => {
    for (const path of ['/', '/imports', '/totals'])
      expect((await fetch(console_.url + path, { method: 'POST', body: '' })).status).toBe(405);
    const { headers } = await console_.get('/transactions');
    expect(headers.get('Cache-Control')).toBe('no-store');
    expect(headers.get('Content-Security-Policy')).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    const huge = await fetch(`${console_.url}/transactions`, { method: 'POST', body: 'x'.repeat(1_000_000) });
    expect(huge.status).toBe(413);
  });

  test('polls count even if another node answered them, or this node before a restart', async () => {
    const { node } = console_;
    const token = await node.token('private', 'elsewhere');
    const sale = (number: number) => console_.importTransactions([transaction(number)], 'elsewhere');
    const rowOf = async (shown: ConsoleNode) =>
      (await shown.page('/organisations')).table('Organisations')?.find(([org]) => org === 'elsewhere');
    await sale(201);
    await node.get('/v1/transactions/', token);
    await sale(202);
    {
      await using other = await ConsoleNode.start({ databaseUrl: node.databaseUrl });
      // A node writes the last use of tokens when it stops, at the latest.
      await other.node.get('/v1/transactions/', token);
    }
    const { tokens } = await node.stores.tokens.list();
    const usedAtMs = tokens.find(({ orgName }) => orgName === 'elsewhere')?.lastUsedAtMs ?? 0;
    expect((await rowOf(console_))?.slice(3, 5)).toEqual([
      printed(usedAtMs),
      expect.stringMatching(/^at most \d+ (ms|s)$/),
    ]);
    await using restarted = await ConsoleNode.start({ databaseUrl: node.databaseUrl });
    expect((await rowOf(restarted))?.slice(3, 5)).toEqual([printed(usedAtMs), 'unknown']);
    await node.get('/v1/transactions/', token);
    expect((await rowOf(console_))?.[4]).toBe('up to date');
    // Using a public token does not count as a poll.
    await node.token('public', 'catalogue only');
    const { tokens: all } = await node.stores.tokens.list();
    const added = all.find(({ orgName }) => orgName === 'catalogue only');
    await node.stores.tokens.touch(new Map([[added?.id ?? id(0), Date.now()]]));
    const rows = (await console_.page('/organisations')).table('Organisations') ?? [];
    expect(rows.find(([org]) => org === 'catalogue only')?.[3]).toBe('never');
  });

  test('the overview of a node without problems has no warnings', async () => {
    await using calm = await ConsoleNode.start({ databaseUrl: await database.create() });
    await calm.importCatalogue([retailer(1)]);
    await calm.importTransactions([transaction(1)]);
    await calm.node.token('public');
    const { html, commands } = await calm.page('/');
    expect(html).toContain('No problems found.');
    expect(commands).toEqual([]);
  });

  test('the catalogue page shows the deals of the latest import', async () => {
    const before = await console_.page('/catalogue');
    expect(before.facts['Deals ending within a week']).toBe('1');
    const ending = [31, 32].map((number) => coupon(number, { endDate: timestamp(printTimestamp(soonMs)) }));
    await console_.importCatalogue([
      retailer(1, { name: 'Renamed', coupons: ending }),
      retailer(2, { cashbackOffers: [offer(12)] }),
    ]);
    const after = await console_.page('/catalogue');
    expect(after.facts['Deals ending within a week']).toBe('2');
    expect(after.table('Deals ending within a week')).toEqual([
      ['Renamed', 'Coupon', 'Coupon 31', printed(soonMs)],
      ['Renamed', 'Coupon', 'Coupon 32', printed(soonMs)],
    ]);
  });

  test('a pending transaction enters the next age group 7, 30, 60 and 90 days after the day of sale', async () => {
    const soldAt = timestamp('2026-11-14T12:00:00');
    const dayMs = Date.UTC(2026, 10, 14);
    await console_.importTransactions([transaction(301, { soldAt })], 'ages');
    const groupAt = async (ageMs: number) => {
      const { ages } = await readTransactionTotals(console_.node.stores, dayMs + ageMs);
      return ages.filter(({ org }) => org === 'ages').map(({ age, count }) => [age, count]);
    };
    for (const [group, days] of [7, 30, 60, 90].entries()) {
      expect(await groupAt(days * DAY_MS - 1)).toEqual([[group, 1]]);
      expect(await groupAt(days * DAY_MS)).toEqual([[group + 1, 1]]);
    }
  });

  test('the pages of the latest transactions contain each transaction once', async () => {
    await console_.importTransactions(
      Array.from({ length: 120 }, (_, i) => transaction(1_000 + i)),
      'paged',
    );
    await console_.importTransactions([transaction(1_007, { status: 'CONFIRMED' })], 'paged');
    const seen: string[] = [];
    for (let path: string | undefined = '/transactions?org=paged'; path !== undefined; ) {
      const page = await console_.page(path);
      for (const [transactionId = ''] of page.table('Transactions') ?? []) seen.push(transactionId);
      expect(page.html.includes('<a href="/transactions">Latest</a>')).toBe(seen.length > 50);
      path = /href="([^"]*)">Older</.exec(page.html)?.[1]?.replaceAll('&amp;', '&');
    }
    const others = Array.from({ length: 120 }, (_, i) => 1_119 - i).filter((number) => number !== 1_007);
    expect(seen).toEqual([1_007, ...others].map(id));
  });
});
