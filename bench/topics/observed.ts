// Measures the cost of observability: a cached catalogue page with tracing, and without request logs, compared with the
// default settings in the same rounds.

import { SpanCollector } from '../../service/test/support/span-collector.ts';
import { SMALL } from '../large-catalogue.ts';
import { compare } from '../load.ts';
import { bearer, GZIP, prepareCatalogue, startOfferbook } from '../offerbook.ts';
import { atLeast, type Report, type Run, seriesTable } from '../topic.ts';

export async function observed(run: Run): Promise<Report> {
  const { databaseUrl, token } = await prepareCatalogue(run.folder, SMALL);
  await using collector = SpanCollector.start();
  const start = (env: Record<string, string> = {}) => startOfferbook(run.folder, databaseUrl, { env });
  const startTraced = (share: string) =>
    start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: share,
    });
  await using standard = await start();
  await using some = await startTraced('0.01');
  await using all = await startTraced('1');
  await using quiet = await start({ OFFERBOOK_LOG_REQUESTS: 'errors' });
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
    run,
  );
  const [base, traced] = [series['default settings'], series['1 % of requests traced']];
  return {
    findings: [
      atLeast('cached page, 1 % of requests traced', traced, base, 0.95, 'a page without tracing'),
      atLeast(
        'cached page, all requests traced',
        series['all requests traced'],
        base,
        0.7,
        'a page without tracing',
      ),
    ],
    details: [seriesTable('cached page', series)],
  };
}
