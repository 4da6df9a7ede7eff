// What operators load into Prometheus and Grafana: the rules are what promtool takes, each alert fires when it should, and
// nothing in either file asks for a metric that no server has.

import { beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sourceFrom } from '../../src/importer/formats/import-source.ts';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import { parseTracingSettings } from '../../src/tracing/tracing-settings.ts';
import { temporaryFolder } from '../support/databases.ts';
import { retailer } from '../support/fixtures.ts';
import { freePort, newPostgresDatabase } from '../support/postgres-server.ts';
import { requirePromtool } from '../support/programs.ts';
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
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly unknown[];
    }[];
  }[];
}

interface Query {
  readonly datasource: unknown;
  readonly expr: string;
}

interface Dashboard {
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly Record<string, unknown>[] };
  readonly annotations: { readonly list: readonly Partial<Query>[] };
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly title: string;
    readonly targets?: readonly Query[];
  }[];
}

const rules = (Bun.YAML.parse(readFileSync(RULES, 'utf8')) as Rules).groups.flatMap((group) => group.rules);
const ruleTests = (Bun.YAML.parse(readFileSync(RULE_TESTS, 'utf8')) as RuleTests).tests.flatMap(
  (each) => each.alert_rule_test,
);
const dashboard = JSON.parse(readFileSync(join(DEPLOY, 'grafana', 'offerbook.json'), 'utf8')) as Dashboard;
const annotations = dashboard.annotations.list.filter((each): each is Query => each.expr !== undefined);
const queries = [...dashboard.panels.flatMap(({ targets = [] }) => targets), ...annotations];
const variables = dashboard.templating.list.filter(({ type }) => type === 'query');

function promtool(...args: string[]): { readonly code: number; readonly output: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([requirePromtool(), ...args]);
  return { code: exitCode, output: `${stdout}${stderr}` };
}

/** All names in an expression that are written like our metrics or those of a process. */
function metricsIn(expression: string): string[] {
  return expression.match(/\b(?:offerbook|process)_\w+/g) ?? [];
}

describe('metrics', () => {
  let metrics: string;

  beforeAll(async () => {
    const databaseUrl = await newPostgresDatabase();
    const adminPort = await freePort();
    // A server that is no replica of anything: it is not used, and the metrics say so.
    const settings = { adminPort, replicaUrl: databaseUrl };
    await using collector = SpanCollector.start();
    const tracing = parseTracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await using node = await TestNode.start({ databaseUrl, settings, tracing });
    const id = await node.stores.imports.begin(ORIGIN);
    await importCatalogue(node.stores.catalogue, sourceFrom(ndjson([retailer(1)])), { importId: id });
    expect((await node.get('/livez')).status).toBe(200);
    metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  });

  const sources: [string, string[]][] = [
    ['deploy/prometheus/alerts.yml', rules.map(({ expr }) => expr)],
    [
      'deploy/grafana/offerbook.json',
      [...queries.map(({ expr }) => expr), ...variables.map(({ definition }) => String(definition))],
    ],
  ];

  test.each(sources)('every one that %s asks for is in /metrics of a running server', (_, expressions) => {
    const named = [...new Set(expressions.flatMap(metricsIn))].sort();
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !new RegExp(`^${name}[ {]`, 'm').test(metrics))).toEqual([]);
  });
});

describe('deploy/prometheus/alerts.yml', () => {
  test('is what Prometheus takes', () => {
    expect(promtool('check', 'rules', RULES)).toEqual({
      code: 0,
      output: expect.stringContaining(`SUCCESS: ${rules.length} rules found`),
    });
  });

  test('its alerts fire when they should, and not otherwise', () => {
    expect(promtool('test', 'rules', RULE_TESTS)).toEqual({
      code: 0,
      output: expect.stringContaining('SUCCESS'),
    });
  });

  test('each alert has a case in which it fires and one in which it does not', () => {
    const names = rules.map(({ alert }) => alert).sort();
    const tested = (fires: boolean) =>
      ruleTests.filter((each) => each.exp_alerts.length > 0 === fires).map(({ alertname }) => alertname);
    expect(tested(true).sort()).toEqual(names);
    expect(tested(false).sort()).toEqual(names);
  });
});

describe('deploy/grafana/offerbook.json', () => {
  test('has panels of their own ids, and each asks something', () => {
    const panels = dashboard.panels.filter(({ type }) => type !== 'row');
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    expect(panels.filter(({ targets = [] }) => targets.length === 0)).toEqual([]);
    expect(dashboard.schemaVersion).toBe(39);
  });

  test('asks the data source that its reader chooses', () => {
    const [first] = dashboard.templating.list;
    expect(first).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
    const chosen = { type: 'prometheus', uid: `\${datasource}` };
    const sources = [...queries, ...variables].map(({ datasource }) => datasource);
    expect(sources).toEqual(sources.map(() => chosen));
  });

  test('takes rates over the interval that Grafana finds right', () => {
    const ranges = queries.flatMap(({ expr }) => [
      ...expr.matchAll(/\b(?:rate|increase)\([^}]*\}\[(.+?)\]/g),
    ]);
    expect(ranges.length).toBeGreaterThan(10);
    expect(ranges.filter(([, range]) => range !== '$__rate_interval')).toEqual([]);
  });

  test('its queries are what Prometheus takes', async () => {
    const file = join(temporaryFolder(), 'queries.yml');
    const records = queries.map(({ expr }, index) => ({
      record: `query_${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, '.*'),
    }));
    await Bun.write(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: records }] }));
    expect(promtool('check', 'rules', file)).toEqual({
      code: 0,
      output: expect.stringContaining(`SUCCESS: ${records.length} rules found`),
    });
  });
});
