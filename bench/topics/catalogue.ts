// Measures a page of 100 offers and one of 100 retailers from Offerbook, nginx (a static file) and the alternatives, all with
// the same 1,500 offers.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CREATE_OPTIONS, openStores } from '../../service/src/storage/open-stores.ts';
import { stopPostgres } from '../../service/test/support/postgres-server.ts';
import { barChart } from '../bar-chart.ts';
import { createPlainDatabase, fillCatalogue, fillPlainCatalogue } from '../fill.ts';
import { makeRetailers, SMALL } from '../large-catalogue.ts';
import { compare, type Load, type Series } from '../load.ts';
import { startNginx } from '../nginx.ts';
import { bearer, issueTokens, startOfferbook } from '../offerbook.ts';
import {
  installPeers,
  JSON_SERVER_PATH,
  POSTGRAPHILE_QUERY,
  startBare,
  startJsonServer,
  startPlain,
  startPostgraphile,
} from '../peers.ts';
import { milliseconds, ratio, table, whole } from '../table.ts';
import type { Finding, Report, Run } from '../topic.ts';

const OFFERS = '/v1/cashback-offers/';
const RETAILERS = '/v1/retailers/';
const PLOT = join(import.meta.dir, '..', '..', 'docs', 'images', 'catalogue-speed.svg');
const GZIP = { 'Accept-Encoding': 'gzip' };

export async function catalogue(run: Run): Promise<Report> {
  await installPeers();
  const { folder } = run;
  const databaseUrl = `sqlite:${join(folder, 'catalogue.db')}`;
  const stores = await openStores(databaseUrl, CREATE_OPTIONS);
  const retailers = [...makeRetailers(SMALL, Date.now())];
  await fillCatalogue(stores, retailers);
  const org = await stores.organisations.create('bench');
  const { public: token } = await issueTokens(stores, org?.id ?? 0);
  await stores.close();
  const plainPath = join(folder, 'plain-catalogue.db');
  const plainFile = createPlainDatabase(plainPath, [token]);
  fillPlainCatalogue(plainFile, retailers);
  plainFile.close();

  await using ours = await startOfferbook(folder, databaseUrl);
  const pages = {
    [OFFERS]: await fetchBoth(`${ours.url}${OFFERS}`, token),
    [RETAILERS]: await fetchBoth(`${ours.url}${RETAILERS}`, token),
  };
  await using nginx = await startNginx(folder, pages);
  await using plain = await startPlain(folder, plainPath, token);
  await using jsonServer = await startJsonServer(folder, retailers);
  await using postgraphile = await startPostgraphile(folder, retailers);
  const bodyPath = join(folder, 'body.gz');
  writeFileSync(bodyPath, pages[OFFERS].gzip);
  await using bare = await startBare(folder, 'body', bodyPath);
  await using bareUnchanged = await startBare(folder, 'unchanged', '"bare"');

  const queryPath = join(folder, 'query.json');
  writeFileSync(queryPath, JSON.stringify({ query: POSTGRAPHILE_QUERY }));

  const load = (url: string, headers: Record<string, string>): Load => ({ url, headers });
  const unchanged = async (url: string, headers: Record<string, string>) =>
    load(url, { ...headers, 'If-None-Match': await readTag(url, headers) });
  const us = bearer(token, GZIP);
  const [{ hostname = '', cashbackOffers: [{ id: offerId = '' } = {}] = [] } = {}] = retailers;
  // Servers that are compared with each other run one after the other.
  const loads: Record<string, Load> = {
    'ours, gzip': load(`${ours.url}${OFFERS}`, us),
    ...(nginx && { 'nginx, gzip': load(`${nginx.url}${OFFERS}`, GZIP) }),
    'ours, 304': await unchanged(`${ours.url}${OFFERS}`, us),
    ...(nginx && { 'nginx, 304': await unchanged(`${nginx.url}${OFFERS}`, GZIP) }),
    'ours, not compressed': load(`${ours.url}${OFFERS}`, bearer(token)),
    ...(nginx && { 'nginx, not compressed': load(`${nginx.url}${OFFERS}`, {}) }),
    'ours, retailers, gzip': load(`${ours.url}${RETAILERS}`, us),
    ...(nginx && { 'nginx, retailers, gzip': load(`${nginx.url}${RETAILERS}`, GZIP) }),
    'ours, one offer by id': load(`${ours.url}${OFFERS}${offerId}/`, us),
    'ours, offers of a site': load(`${ours.url}${OFFERS}?hostname=www.${hostname}`, us),
    'ours, domains, 304': await unchanged(`${ours.url}/v1/domains/`, us),
    'Bun.serve with the same bytes, gzip': load(`${bare.url}/?cursor=0`, us),
    'Bun.serve that always returns a 304': load(`${bareUnchanged.url}/`, {
      ...us,
      'If-None-Match': '"bare"',
    }),
    'plain implementation, gzip': load(`${plain.url}${OFFERS}`, us),
    'plain implementation, not compressed': load(`${plain.url}${OFFERS}`, bearer(token)),
    'json-server, gzip': load(`${jsonServer.url}${JSON_SERVER_PATH}`, GZIP),
    'PostGraphile, not compressed': {
      ...load(`${postgraphile.url}/graphql`, { 'Content-Type': 'application/json' }),
      file: ['body', queryPath],
    },
  };
  const measured = await compare(loads, run);
  await stopPostgres();
  writeFileSync(PLOT, plot(measured));
  return { findings: findings(measured), details: [details(measured)] };
}

function findings(measured: Record<string, Series>): Finding[] {
  const times = (work: string, ours: string, theirs: string, factor: number): Finding => {
    const [a, b] = [measured[ours], measured[theirs]];
    const target = `at least ${factor} times the throughput of ${theirs.replace(/^plain/, 'the plain')}`;
    if (a === undefined || b === undefined)
      return { work, target, measured: 'not available', met: undefined };
    const value = a.timesAsFastAs(b);
    return { work, target, measured: ratio(value), met: value >= factor };
  };
  const [ours, nginx] = [measured['ours, gzip'], measured['nginx, gzip']];
  const p99 = (ours?.p99Ms ?? Number.NaN) / (nginx?.p99Ms ?? Number.NaN);
  const page = 'page of 100 offers, gzip';
  return [
    times(page, 'ours, gzip', 'nginx, gzip', 0.4),
    {
      work: `${page}: p99`,
      target: "at most 5 times nginx's p99",
      measured: ratio(p99),
      met: Number.isNaN(p99) ? undefined : p99 <= 5,
    },
    times(page, 'ours, gzip', 'Bun.serve with the same bytes, gzip', process.arch === 'arm64' ? 0.5 : 0.45),
    times('unchanged page of 100 offers (304)', 'ours, 304', 'nginx, 304', 0.4),
    times('unchanged page of 100 offers (304)', 'ours, 304', 'Bun.serve that always returns a 304', 0.6),
    times('page of 100 retailers, gzip', 'ours, retailers, gzip', 'nginx, retailers, gzip', 0.4),
    times('one offer by its id', 'ours, one offer by id', 'ours, gzip', 0.9),
    times("offers by a site's hostname", 'ours, offers of a site', 'ours, gzip', 0.9),
    times('unchanged list of domains (304)', 'ours, domains, 304', 'ours, gzip', 0.9),
    times(page, 'ours, gzip', 'plain implementation, gzip', 10),
    times(page, 'ours, gzip', 'json-server, gzip', 10),
    times('page of 100 offers, not compressed', 'ours, not compressed', 'PostGraphile, not compressed', 10),
  ];
}

function plot(measured: Record<string, Series>): string {
  const bars = Object.entries(measured)
    .toSorted(([, a], [, b]) => b.requestsPerS - a.requestsPerS)
    .map(([name, { requestsPerS }]) => ({
      name,
      value: requestsPerS,
      label: `${whole(requestsPerS)}/s`,
      isOurs: name.startsWith('ours'),
    }));
  return barChart('Catalogue pages per second, one core, logarithmic', bars);
}

function details(measured: Record<string, Series>): string {
  const nginx = measured['nginx, gzip'];
  const rows = Object.entries(measured)
    .toSorted(([, a], [, b]) => b.requestsPerS - a.requestsPerS)
    .map(([name, series]) => [
      name,
      whole(series.requestsPerS),
      `${whole(series.slowest)} – ${whole(series.fastest)}`,
      milliseconds(series.p99Ms),
      nginx === undefined ? '' : ratio(series.timesAsFastAs(nginx)),
      String(series.failed),
    ]);
  const head = [
    'catalogue page',
    'requests/s',
    'slowest – fastest',
    'p99',
    'relative to nginx, gzip',
    'failed',
  ];
  return table(head, rows);
}

async function fetchBoth(url: string, token: string): Promise<{ plain: Uint8Array; gzip: Uint8Array }> {
  const read = async (headers: Record<string, string>) => {
    const response = await fetch(url, { headers: bearer(token, headers), decompress: false });
    return new Uint8Array(await response.arrayBuffer());
  };
  return { plain: await read({ 'Accept-Encoding': 'identity' }), gzip: await read(GZIP) };
}

async function readTag(url: string, headers: Record<string, string>): Promise<string> {
  const response = await fetch(url, { headers });
  await response.arrayBuffer();
  return response.headers.get('ETag') ?? '';
}
