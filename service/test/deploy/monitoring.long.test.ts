// The files for Prometheus and Grafana: promtool accepts the rules, each alert fires when it should, and every metric that they
// use exists.

import { beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import dashboard from '../../../deploy/grafana/offerbook.json';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import { parseTracingSettings } from '../../src/tracing/tracing-settings.ts';
import { temporaryFolder } from '../support/databases.ts';
import { retailer } from '../support/fixtures.ts';
import { freePort, newPostgresSchema } from '../support/postgres-server.ts';
import { lacks, PROGRAMS, requireProgram } from '../support/programs.ts';
import { SpanCollector } from '../support/span-collector.ts';
import { ndjson, TestNode } from '../support/test-node.ts';

const DEPLOY = join(import.meta.dir, '..', '..', '..', 'deploy');
const RULES = join(DEPLOY, 'prometheus', 'alerts.yml');
const RULE_TESTS = join(DEPLOY, 'prometheus', 'alerts.test.yml');

const ORIGIN = {
  kind: 'catalogue',
  orgId: null,
  by: 'test',
  source: null,
  fileName: 'catalogue.ndjson',
  version: '1.0.0',
} as const;

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

interface RuleTests {
  readonly tests: readonly {
    readonly input_series?: readonly { readonly series: string }[];
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly unknown[];
    }[];
  }[];
}

const rules = (Bun.YAML.parse(readFileSync(RULES, 'utf8')) as Rules).groups.flatMap((group) => group.rules);
const cases = (Bun.YAML.parse(readFileSync(RULE_TESTS, 'utf8')) as RuleTests).tests;
const ruleTests = cases.flatMap((each) => each.alert_rule_test);
const annotations = dashboard.annotations.list.filter((each) => each.expr !== undefined);
const queries = [...dashboard.panels.flatMap(({ targets = [] }) => targets), ...annotations];
const variables = dashboard.templating.list.filter(({ type }) => type === 'query');

function promtool(...args: string[]): { readonly code: number; readonly output: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([requireProgram(PROGRAMS.promtool), ...args]);
  return { code: exitCode, output: `${stdout}${stderr}` };
}

/** All names in an expression that have the prefix of our metrics or of process metrics. */
function metricsIn(expression: string): string[] {
  return expression.match(/\b(?:offerbook|process)_\w+/g) ?? [];
}

/** A query of the dashboard as Grafana would send it, for all nodes. */
function asSent(expr: string): string {
  return expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, '.*');
}

/** The name of a series with the names of its labels, without those that Prometheus adds. */
function shapeOf(series: string): string {
  const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})?/.exec(series) ?? [];
  const names = [...labels.matchAll(/(\w+)=/g)].map(([, label = '']) => label);
  return `${name}{${names.filter((label) => !['job', 'instance'].includes(label)).sort()}}`;
}

describe('metrics', () => {
  let metrics: string;

  beforeAll(async () => {
    const databaseUrl = await newPostgresSchema();
    const adminPort = await freePort();
    // The URL of a server that is not a replica. The node does not use it, and the metrics show that.
    const settings = { adminPort, replicaUrl: databaseUrl };
    await using collector = SpanCollector.start();
    const tracing = parseTracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await using node = await TestNode.start({ databaseUrl, settings, tracing });
    const org = await node.organisation();
    await node.stores.webhooks.create(org.id, 'https://partner.example/', 0);
    const stream = { source: 'awin:77777', orgId: org.id, stream: 'transaction' };
    await node.stores.pulls.countRequest('awin:77777', 'digest', 'ok');
    await node.stores.pulls.noteReread(stream, { completeThroughMs: 0, suspects: [] });
    const id = await node.stores.imports.begin(ORIGIN);
    await importCatalogue(node.stores.catalogue, sourceFrom(ndjson([retailer(1)])), { importId: id });
    expect((await node.get('/livez')).status).toBe(200);
    expect((await node.get('/v1/retailers/')).status).toBe(401);
    // The webhook thread starts once the node has noticed the new webhook.
    do metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    while (!metrics.includes('offerbook_webhook_requests_total{'));
  });

  const sources: [string, string[]][] = [
    ['deploy/prometheus/alerts.yml', rules.map(({ expr }) => expr)],
    [
      'deploy/grafana/offerbook.json',
      [...queries.map(({ expr }) => expr), ...variables.map(({ definition }) => String(definition))],
    ],
  ];

  test.each(sources)('a running server exports every metric that %s uses', (_, expressions) => {
    const named = [...new Set(expressions.flatMap(metricsIn))].sort();
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !new RegExp(`^${name}[ {]`, 'm').test(metrics))).toEqual([]);
  });

  test('the series in the alert tests have the labels of a running server', () => {
    const known = new Set(metrics.split('\n').map(shapeOf));
    const used = cases.flatMap(({ input_series = [] }) => input_series.map(({ series }) => shapeOf(series)));
    expect(used.filter((shape) => shape !== 'up{}' && !known.has(shape))).toEqual([]);
  });

  test.skipIf(lacks('promtool'))('every dashboard query returns a result on a running server', async () => {
    const samples = metrics.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const input_series = samples.map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const all = ['job="offerbook"', 'instance="a"', ...(labels === '' ? [] : [labels])].join();
      // Only the increase of a counter matters, not its value.
      const isCounter = /_(total|bucket|sum|count)$/.test(name);
      return { series: `${name}{${all}}`, values: isCounter ? '0+1x20' : `${value}x20` };
    });
    const folder = temporaryFolder();
    const alerts = queries.map(({ expr }, index) => ({
      alert: `Query${index}`,
      expr: `absent(${asSent(expr)})`,
    }));
    // These queries return results only after a reload of the catalogue, and there was none.
    const expected = queries.map(({ expr }) => expr.startsWith('changes('));
    const write = (name: string, content: unknown) => Bun.write(join(folder, name), JSON.stringify(content));
    await write('rules.yml', { groups: [{ name: 'dashboard', rules: alerts }] });
    await write('tests.yml', {
      rule_files: ['rules.yml'],
      tests: [
        {
          interval: '1m',
          input_series,
          alert_rule_test: alerts.map(({ alert }, index) => ({
            eval_time: '10m',
            alertname: alert,
            exp_alerts: expected[index] === true ? [{ exp_labels: {} }] : [],
          })),
        },
      ],
    });
    expect(promtool('test', 'rules', join(folder, 'tests.yml'))).toEqual({
      code: 0,
      output: expect.stringContaining('SUCCESS'),
    });
  });
});

test.skipIf(lacks('promtool'))('Prometheus accepts the configuration in the monitoring guide', async () => {
  const text = readFileSync(join(DEPLOY, '..', 'docs', 'operations', 'monitoring.md'), 'utf8');
  const [, configuration = ''] = /^```yaml\n(.*?)^```$/ms.exec(text) ?? [];
  const file = join(temporaryFolder(), 'prometheus.yml');
  await Bun.write(file, configuration);
  expect(promtool('check', 'config', '--syntax-only', file)).toEqual({
    code: 0,
    output: expect.stringContaining('SUCCESS'),
  });
  expect(configuration).toContain('job_name: offerbook\n');
});

describe('deploy/prometheus/alerts.yml', () => {
  test.skipIf(lacks('promtool'))('Prometheus accepts the alert rules', () => {
    expect(promtool('check', 'rules', RULES)).toEqual({
      code: 0,
      output: expect.stringContaining(`SUCCESS: ${rules.length} rules found`),
    });
  });

  test.skipIf(lacks('promtool'))('alerts fire exactly when they should', () => {
    expect(promtool('test', 'rules', RULE_TESTS)).toEqual({
      code: 0,
      output: expect.stringContaining('SUCCESS'),
    });
  });

  test('each alert has a test case in which it fires and a test case in which it does not', () => {
    const names = rules.map(({ alert }) => alert).sort();
    const tested = (fires: boolean) =>
      ruleTests.filter((each) => each.exp_alerts.length > 0 === fires).map(({ alertname }) => alertname);
    expect(tested(true).sort()).toEqual(names);
    expect(tested(false).sort()).toEqual(names);
  });
});

describe('deploy/grafana/offerbook.json', () => {
  test('every panel of the dashboard has a unique id and a query', () => {
    const panels = dashboard.panels.filter(({ type }) => type !== 'row');
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    expect(panels.filter(({ targets = [] }) => targets.length === 0)).toEqual([]);
    expect(dashboard.schemaVersion).toBe(39);
  });

  test('the dashboard uses the data source that the reader selects', () => {
    const [first] = dashboard.templating.list;
    expect(first).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
    const chosen = { type: 'prometheus', uid: `\${datasource}` };
    const sources = [...queries, ...variables].map(({ datasource }) => datasource);
    expect(sources).toEqual(sources.map(() => chosen));
  });

  test('the dashboard computes rates over $__rate_interval', () => {
    const ranges = queries.flatMap(({ expr }) => [
      ...expr.matchAll(/\b(?:rate|increase)\([^}]*\}\[(.+?)\]/g),
    ]);
    expect(ranges.length).toBeGreaterThan(10);
    expect(ranges.filter(([, range]) => range !== '$__rate_interval')).toEqual([]);
  });
});
