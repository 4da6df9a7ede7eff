// Traces of processes: a server with workers, and an import.

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { offerbook, ServerProcess } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { freePort } from '../support/postgres-server.ts';
import { attributesOf, SpanCollector } from '../support/span-collector.ts';
import { until } from '../support/until.ts';

const CATALOGUE = join(import.meta.dir, '..', '..', '..', 'examples', 'data', 'catalogue.ndjson');

test('imports, requests to all workers and catalogue builds each have a span', async () => {
  await using collector = SpanCollector.start();
  const cwd = temporaryFolder();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: 'offers' };
  expect(await offerbook(['import', 'catalogue', CATALOGUE], { cwd, env })).toMatchObject({
    code: 0,
    stderr: '',
  });
  expect(await offerbook(['import', 'catalogue', '-'], { cwd, env, stdin: '{}' })).toMatchObject({ code: 2 });
  const [done, refused] = collector.spans;
  expect([done?.name, done?.kind, done?.status]).toEqual(['import catalogue', 1, {}]);
  expect(attributesOf(done ?? { attributes: [] })).toMatchObject({
    'offerbook.import.invalid': 0,
    'offerbook.import.withdrawn': 0,
  });
  expect([refused?.name, refused?.status, attributesOf(refused ?? { attributes: [] })]).toEqual([
    'import catalogue',
    { code: 2 },
    { 'error.type': 'BadInput' },
  ]);

  const adminPort = await freePort();
  const options = ['--workers', '2', '--admin-port', String(adminPort)];
  await using server = await ServerProcess.start(options, { cwd, env });
  const metrics = async () => (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  await until(metrics, (page) => page.includes('offerbook_workers_ready 2\n'));
  // Each request on its own connection, so that both workers get some.
  for (let i = 0; i < 40; i += 1) await fetch(`${server.url}/livez`, { headers: { Connection: 'close' } });
  expect(await server.stop()).toBe(0);
  const spans = collector.spans.slice(2);
  expect(spans.filter(({ name }) => name === 'catalogue build').length).toBe(1);
  expect(spans.filter(({ name }) => name === 'GET /livez').length).toBe(40);
  const names = collector.batches.map(({ body }) =>
    attributesOf(body.resourceSpans[0]?.resource ?? { attributes: [] }),
  );
  expect(new Set(names.map((resource) => resource['service.name']))).toEqual(new Set(['offers']));
  // Each worker and the main thread send their own batches, after the two imports; several on a slow machine.
  expect(collector.batches.length).toBeGreaterThanOrEqual(5);
});

test('an import succeeds if the collector is unreachable, and an invalid tracing setting stops the import before it starts', async () => {
  const cwd = temporaryFolder();
  const away = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}` };
  const kept = await offerbook(['import', 'catalogue', CATALOGUE], { cwd, env: away });
  expect({ code: kept.code, stderr: kept.stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining('offerbook: the trace collector rejected spans: '),
  });
  const bad = { OTEL_EXPORTER_OTLP_ENDPOINT: 'nowhere' };
  const refused = await offerbook(['import', 'catalogue', CATALOGUE], { cwd, env: bad });
  expect({ code: refused.code, stderr: refused.stderr }).toEqual({
    code: 2,
    stderr: 'offerbook: OTEL_EXPORTER_OTLP_ENDPOINT must be a URL such as http://localhost:4318\n',
  });
});
