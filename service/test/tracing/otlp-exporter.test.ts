import { expect, test } from 'bun:test';
import manifest from '../../package.json';
import { otlpExporter } from '../../src/tracing/otlp-exporter.ts';
import type { FinishedSpan } from '../../src/tracing/tracer.ts';
import { SpanCollector, spansOf } from '../support/span-collector.ts';
import { until } from '../support/until.ts';

const SPAN: FinishedSpan = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  id: '00f067aa0ba902b7',
  parentId: undefined,
  name: 'GET /v1/coupons/',
  kind: 'server',
  startMs: 1_795_000_000_123.25,
  durationMs: 1.5,
  attributes: { 'http.response.status_code': 503, 'url.path': '/v1/coupons/' },
  isError: true,
};

function open(collector: { readonly url: string }, options: { intervalMs?: number; retryMs?: number } = {}) {
  const changes: (string | undefined)[] = [];
  const settings = {
    url: `${collector.url}/v1/traces`,
    headers: { 'x-team': 'offers' },
    resource: { a: 'b' },
  };
  const onChange = (reason: string | undefined) => changes.push(reason);
  const exporter = otlpExporter(settings, { onChange, retryMs: 1, intervalMs: 60_000, ...options });
  const add = (count: number) => {
    for (let i = 0; i < count; i += 1) exporter.add(SPAN);
  };
  return { exporter, changes, add };
}

test('a batch conforms to OTLP: ids are hex, 64-bit integers are strings, enums are numbers', async () => {
  await using collector = SpanCollector.start();
  const { exporter } = open(collector);
  exporter.add(SPAN);
  exporter.add({ ...SPAN, parentId: '1111111111111111', kind: 'client', isError: false, attributes: {} });
  await exporter.close(5_000);
  const [batch] = collector.batches;
  expect([batch?.path, batch?.headers.get('content-type'), batch?.headers.get('x-team')]).toEqual([
    '/v1/traces',
    'application/json',
    'offers',
  ]);
  const common = {
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    spanId: '00f067aa0ba902b7',
    name: 'GET /v1/coupons/',
    startTimeUnixNano: '1795000000123250000',
    endTimeUnixNano: '1795000000124750000',
  };
  expect(batch?.body).toEqual({
    resourceSpans: [
      {
        resource: {
          attributes: [
            { key: 'service.version', value: { stringValue: manifest.version } },
            { key: 'a', value: { stringValue: 'b' } },
          ],
        },
        scopeSpans: [
          {
            scope: { name: 'offerbook', version: manifest.version },
            spans: [
              {
                ...common,
                kind: 2,
                attributes: [
                  { key: 'http.response.status_code', value: { intValue: '503' } },
                  { key: 'url.path', value: { stringValue: '/v1/coupons/' } },
                ],
                status: { code: 2 },
              },
              { ...common, parentSpanId: '1111111111111111', kind: 3, attributes: [], status: {} },
            ],
          },
        ],
      },
    ],
  });
  expect(exporter.counts).toEqual({ sent: 2, dropped: 0 });
});

test('spans are sent after the interval, or as soon as 512 spans are queued', async () => {
  await using collector = SpanCollector.start();
  const soon = open(collector, { intervalMs: 5 });
  soon.add(1);
  await collector.received(1);
  const later = open(collector);
  later.add(511);
  expect(collector.batches.length).toBe(1);
  later.add(1);
  await collector.received(2);
  expect(collector.batches.map(({ body }) => spansOf(body).length)).toEqual([1, 512]);
  await Promise.all([soon.exporter.close(5_000), later.exporter.close(5_000)]);
});

test('while the collector does not respond, 2,048 spans are queued and the rest are dropped and counted', async () => {
  const answer = Promise.withResolvers<Response>();
  await using collector = SpanCollector.start((batch) => (batch === 1 ? answer.promise : Response.json({})));
  const { exporter, add } = open(collector);
  add(512);
  await collector.received(1);
  add(2_050);
  expect(exporter.counts).toEqual({ sent: 0, dropped: 2 });
  answer.resolve(Response.json({}));
  await exporter.close(5_000);
  expect(collector.batches.map(({ body }) => spansOf(body).length)).toEqual([512, 512, 512, 512, 512]);
  expect(exporter.counts).toEqual({ sent: 2_560, dropped: 2 });
});

test.each([429, 502, 503, 504])(
  'a batch that gets %d is retried after the time in Retry-After, and counted once',
  async (status) => {
    await using collector = SpanCollector.start((batch) =>
      batch === 1 ? new Response('', { status, headers: { 'Retry-After': '0' } }) : Response.json({}),
    );
    // The default delay would be longer than the test.
    const { exporter, add, changes } = open(collector, { retryMs: 120_000 });
    add(512);
    await collector.received(2);
    await exporter.close(5_000);
    expect(collector.batches[1]?.body).toEqual(collector.batches[0]?.body as never);
    expect({ counts: exporter.counts, changes }).toEqual({ counts: { sent: 512, dropped: 0 }, changes: [] });
  },
);

test.each([301, 400, 401, 404, 500])(
  'batches that get %d are dropped without retries, and the failure is reported once',
  async (status) => {
    await using collector = SpanCollector.start((batch) =>
      batch < 3 ? new Response('', { status, headers: { Location: '/elsewhere' } }) : Response.json({}),
    );
    const { exporter, add, changes } = open(collector);
    for (const batch of [1, 2, 3]) {
      add(512);
      await collector.received(batch);
    }
    await exporter.close(5_000);
    expect(collector.batches.length).toBe(3);
    expect(exporter.counts).toEqual({ sent: 512, dropped: 1_024 });
    expect(changes).toEqual([`it responded with status ${status}`, undefined]);
  },
);

test('a batch is dropped if the collector is unreachable, and the reason is reported', async () => {
  let url = '';
  {
    await using gone = SpanCollector.start();
    url = gone.url;
  }
  const { exporter, add, changes } = open({ url });
  add(512);
  await until(() => exporter.counts.dropped);
  await exporter.close(5_000);
  expect(exporter.counts).toEqual({ sent: 0, dropped: 512 });
  expect(changes).toEqual([expect.stringContaining('connect')]);
});

test('a batch that always gets 503 is dropped after five attempts', async () => {
  await using collector = SpanCollector.start(() => new Response('', { status: 503 }));
  const { exporter, add } = open(collector);
  add(512);
  await until(() => exporter.counts.dropped);
  await exporter.close(5_000);
  expect(collector.batches.length).toBe(5);
});

test('spans that the collector rejects from an accepted batch count as dropped', async () => {
  await using collector = SpanCollector.start(() =>
    Response.json({ partialSuccess: { rejectedSpans: '2' } }),
  );
  const { exporter, add } = open(collector);
  add(5);
  await exporter.close(5_000);
  expect(exporter.counts).toEqual({ sent: 3, dropped: 2 });
});

test('close() does not wait for a collector that never responds', async () => {
  await using collector = SpanCollector.start(() => new Promise<Response>(() => {}));
  const { exporter, changes, add } = open(collector);
  add(1);
  await exporter.close(50);
  // The request has not reached its own limit of ten seconds, which would be a failure.
  expect(changes).toEqual([]);
});
