// Measures the cost of observability: a cached catalogue page with tracing, and without request logs, compared with the
// default settings in the same rounds.
//   npm run bench:observed -- [--rounds 9] [--seconds 3]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CREATE_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
import { SpanCollector } from '../service/test/support/span-collector.ts';
import { fillCatalogue } from './fill.ts';
import { makeRetailers, SMALL } from './large-catalogue.ts';
import { compare } from './load.ts';
import { bearer, issueTokens, startOfferbook } from './offerbook.ts';
import { table, whole } from './table.ts';

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, seconds: { type: 'string', default: '3' } },
});
const sampled = (collector: SpanCollector, share: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_TRACES_SAMPLER: 'traceidratio',
  OTEL_TRACES_SAMPLER_ARG: share,
});

const folder = mkdtempSync(join(tmpdir(), 'offerbook-observed-'));
try {
  const databaseUrl = `sqlite:${join(folder, 'observed.db')}`;
  const stores = await openStores(databaseUrl, CREATE_OPTIONS);
  await fillCatalogue(stores, makeRetailers(SMALL, Date.now()));
  const org = await stores.organisations.create('bench');
  const { public: token } = await issueTokens(stores, org?.id ?? 0);
  await stores.close();
  await using collector = SpanCollector.start();
  const start = (env: Record<string, string> = {}) => startOfferbook(folder, databaseUrl, { env });
  await using quiet = await start({ OFFERBOOK_LOG_REQUESTS: 'errors' });
  await using plain = await start();
  await using some = await start(sampled(collector, '0.01'));
  await using all = await start(sampled(collector, '1'));
  const load = ({ url }: { readonly url: string }) => ({
    url: `${url}/v1/cashback-offers/`,
    headers: bearer(token, { 'Accept-Encoding': 'gzip' }),
  });
  const series = await compare(
    {
      'default settings': load(plain),
      '1 % of requests traced': load(some),
      'all requests traced': load(all),
      'without request logs': load(quiet),
    },
    { seconds: Number(options.seconds), repeats: Number(options.rounds) },
  );
  const baseline = series['default settings'];
  const rows = Object.entries(series).map(([name, each]) => [
    name,
    whole(each.requestsPerS),
    each.timesAsFastAs(baseline).toFixed(3),
    whole(each.failed),
  ]);
  process.stdout.write(`${table(['cached page', 'requests/s', 'relative to default', 'failed'], rows)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}
