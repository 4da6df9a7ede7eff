// Measures the cost of observability: a cached catalogue page with tracing, and without request logs, compared with the
// default settings in the same rounds.
//   npm run bench -- observed [--rounds 9] [--seconds 3]

import { parseArgs } from 'node:util';
import { SpanCollector } from '../service/test/support/span-collector.ts';
import { withFolder } from './folder.ts';
import { SMALL } from './large-catalogue.ts';
import { compare } from './load.ts';
import { bearer, GZIP, prepareCatalogue, startOfferbook } from './offerbook.ts';
import { seriesTable } from './topic.ts';

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, seconds: { type: 'string', default: '3' } },
});

await withFolder(async (folder) => {
  const { databaseUrl, token } = await prepareCatalogue(folder, SMALL);
  await using collector = SpanCollector.start();
  const start = (env: Record<string, string> = {}) => startOfferbook(folder, databaseUrl, { env });
  const startTraced = (share: string) =>
    start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: share,
    });
  await using quiet = await start({ OFFERBOOK_LOG_REQUESTS: 'errors' });
  await using standard = await start();
  await using some = await startTraced('0.01');
  await using all = await startTraced('1');
  const load = ({ url }: { readonly url: string }) => ({
    ...{ url: `${url}/v1/cashback-offers/`, headers: bearer(token, GZIP) },
  });
  const series = await compare(
    {
      'default settings': load(standard),
      '1 % of requests traced': load(some),
      'all requests traced': load(all),
      'without request logs': load(quiet),
    },
    { seconds: Number(options.seconds), repeats: Number(options.rounds) },
  );
  process.stdout.write(`${seriesTable('cached page', series)}\n\n`);
  for (const [name, each] of Object.entries(series))
    process.stdout.write(
      `${name}: ${each.timesAsFastAs(series['default settings']).toFixed(3)} of the default\n`,
    );
});
