// Measures a page of 100 offers and one of 100 retailers from Offerbook, nginx (a static file) and the alternatives, all with
// the same 1,500 offers.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SpanCollector } from '../../service/test/support/span-collector.ts';
import { createPlainDatabase, fillPlainCatalogue } from '../fill.ts';
import { SMALL } from '../large-catalogue.ts';
import { compare, type Load } from '../load.ts';
import { bearer, GZIP, prepareCatalogue, startOfferbook } from '../offerbook.ts';
import { installPeers, startBare, startNginx, startPlain } from '../peers.ts';
import { atLeast, type Finding, p99AtMost, type Run } from '../topic.ts';

const OFFERS = '/v1/cashback-offers/';
const RETAILERS = '/v1/retailers/';

export async function catalogue(run: Run): Promise<Finding[]> {
  await installPeers();
  const { folder } = run;
  const { databaseUrl, retailers, token } = await prepareCatalogue(folder, SMALL);
  const plainPath = join(folder, 'plain-catalogue.db');
  const plainFile = createPlainDatabase(plainPath, [token]);
  fillPlainCatalogue(plainFile, retailers);
  plainFile.close();

  await using ours = await startOfferbook(folder, databaseUrl);
  await using collector = SpanCollector.start();
  await using traced = await startOfferbook(folder, databaseUrl, {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  });
  const pages = {
    [OFFERS]: await fetchBoth(`${ours.url}${OFFERS}`, token),
    [RETAILERS]: await fetchBoth(`${ours.url}${RETAILERS}`, token),
  };
  await using nginx = await startNginx(folder, pages);
  await using plain = await startPlain(folder, plainPath, token);
  const bodyPath = join(folder, 'body.gz');
  writeFileSync(bodyPath, pages[OFFERS].gzip);
  await using bare = await startBare(folder, 'body', bodyPath);
  await using bareUnchanged = await startBare(folder, 'unchanged', '"bare"');

  const load = (url: string, headers: Record<string, string>): Load => ({ url, headers });
  const unchanged = async (url: string, headers: Record<string, string>) =>
    load(url, { ...headers, 'If-None-Match': await readTag(url, headers) });
  const us = bearer(token, GZIP);
  const [{ hostname = '', cashbackOffers: [{ id: offerId = '' } = {}] = [] } = {}] = retailers;
  // Servers that are compared with each other run one after the other.
  const loads = {
    'ours, gzip': load(`${ours.url}${OFFERS}`, us),
    'nginx, gzip': load(`${nginx.url}${OFFERS}`, GZIP),
    'ours, 304': await unchanged(`${ours.url}${OFFERS}`, us),
    'nginx, 304': await unchanged(`${nginx.url}${OFFERS}`, GZIP),
    'ours, retailers, gzip': load(`${ours.url}${RETAILERS}`, us),
    'nginx, retailers, gzip': load(`${nginx.url}${RETAILERS}`, GZIP),
    'ours, all requests traced, gzip': load(`${traced.url}${OFFERS}`, us),
    'ours, one offer by id': load(`${ours.url}${OFFERS}${offerId}/`, us),
    'ours, offers of a site': load(`${ours.url}${OFFERS}?hostname=www.${hostname}`, us),
    'ours, domains, 304': await unchanged(`${ours.url}/v1/domains/`, us),
    'Bun.serve with the same bytes, gzip': load(`${bare.url}/?cursor=0`, us),
    'Bun.serve that always returns a 304': load(`${bareUnchanged.url}/`, {
      ...us,
      'If-None-Match': '"bare"',
    }),
    'plain implementation, gzip': load(`${plain.url}${OFFERS}`, us),
  };
  const measured = await compare('catalogue page', loads, run);
  type Name = keyof typeof loads;
  const times = (work: string, ours: Name, theirs: Name, factor: number) =>
    atLeast(work, measured[ours], measured[theirs], factor, theirs.replace(/^plain/, 'the plain'));
  const page = 'page of 100 offers, gzip';
  return [
    times(page, 'ours, gzip', 'nginx, gzip', 0.4),
    p99AtMost(page, measured['ours, gzip'], measured['nginx, gzip'], 5, 'nginx, gzip'),
    times(page, 'ours, gzip', 'Bun.serve with the same bytes, gzip', process.arch === 'arm64' ? 0.5 : 0.45),
    times('unchanged page of 100 offers (304)', 'ours, 304', 'nginx, 304', 0.4),
    times('unchanged page of 100 offers (304)', 'ours, 304', 'Bun.serve that always returns a 304', 0.6),
    times('page of 100 retailers, gzip', 'ours, retailers, gzip', 'nginx, retailers, gzip', 0.4),
    times('one offer by its id', 'ours, one offer by id', 'ours, gzip', 0.9),
    times("offers by a site's hostname", 'ours, offers of a site', 'ours, gzip', 0.9),
    times('unchanged list of domains (304)', 'ours, domains, 304', 'ours, gzip', 0.9),
    times(page, 'ours, gzip', 'plain implementation, gzip', 10),
    times('page of 100 offers, gzip, traced', 'ours, all requests traced, gzip', 'ours, gzip', 0.7),
  ];
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
