import { expect, test } from 'bun:test';
import { parseTracingSettings, type Sampling } from '../../src/tracing/tracing-settings.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

test('tracing is off if there is no endpoint, even if other variables are set', () => {
  expect(
    parseTracingSettings({ OTEL_SERVICE_NAME: 'shop', OTEL_TRACES_SAMPLER: 'always_off' }),
  ).toBeUndefined();
});

test('setting only an endpoint turns tracing on with defaults', () => {
  expect(parseTracingSettings(ENDPOINT)).toEqual({
    url: 'http://collector:4318/v1/traces',
    headers: {},
    resource: { 'service.name': 'offerbook' },
    sampling: { ratio: 1, followsParent: true },
  });
});

test('reads headers, resource attributes and the sampler from the OpenTelemetry variables', () => {
  const settings = parseTracingSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://ignored',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/otlp',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-team = offers',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-team=traces',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=prod%2Ceu',
    OTEL_SERVICE_NAME: 'shop',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.01',
  });
  expect(settings).toEqual({
    url: 'https://collector/otlp',
    headers: { authorization: 'Bearer abc', 'x-team': 'traces' },
    resource: { 'service.name': 'shop', 'deployment.environment.name': 'prod,eu' },
    sampling: { ratio: 0.01, followsParent: true },
  });
});

test('resource attribute keys may contain any characters except commas and equals signs', () => {
  const attributes = 'app.kubernetes.io/name=offers, team:owner = a/b,weiß=1';
  const settings = parseTracingSettings({ ...ENDPOINT, OTEL_RESOURCE_ATTRIBUTES: attributes });
  expect(settings?.resource).toEqual({
    'service.name': 'offerbook',
    'app.kubernetes.io/name': 'offers',
    'team:owner': 'a/b',
    weiß: '1',
  });
});

test.each<[string, Sampling]>([
  ['always_on', { ratio: 1, followsParent: false }],
  ['always_off', { ratio: 0, followsParent: false }],
  ['traceidratio', { ratio: 0.25, followsParent: false }],
  ['parentbased_always_on', { ratio: 1, followsParent: true }],
  ['parentbased_always_off', { ratio: 0, followsParent: true }],
  ['parentbased_traceidratio', { ratio: 0.25, followsParent: true }],
])('parses the sampler %s', (sampler, expected) => {
  const environment = { ...ENDPOINT, OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: '0.25' };
  expect(parseTracingSettings(environment)?.sampling).toEqual(expected);
});

const URL_FORM = 'must be a URL such as http://localhost:4318';
const LIST_FORM = 'must be a list such as key=value,other=value';
const SAMPLERS =
  'must be one of always_on, parentbased_always_on, always_off, parentbased_always_off, traceidratio, parentbased_traceidratio';

// The sampler is checked while tracing is off, too.
test.each<[string, string, string, Record<string, string>?]>([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', URL_FORM, {}],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'grpc://user:secret@collector', URL_FORM, {}],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization', LIST_FORM],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=b%0d%0ac: d', LIST_FORM],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x/y=z', LIST_FORM],
  ['OTEL_RESOURCE_ATTRIBUTES', 'a', LIST_FORM],
  ['OTEL_RESOURCE_ATTRIBUTES', ' =b', LIST_FORM],
  ['OTEL_RESOURCE_ATTRIBUTES', 'a=%', LIST_FORM],
  ['OTEL_TRACES_SAMPLER', 'foo', SAMPLERS, {}],
  ['OTEL_TRACES_SAMPLER', 'xray', SAMPLERS],
  [
    'OTEL_TRACES_SAMPLER_ARG',
    '1 %',
    'must be a number from 0 to 1',
    { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'traceidratio' },
  ],
])(
  'rejects %s=%s with an error that does not repeat the value',
  (variable, value, problem, others = ENDPOINT) => {
    expect(() => parseTracingSettings({ ...others, [variable]: value })).toThrow(`${variable} ${problem}`);
  },
);
