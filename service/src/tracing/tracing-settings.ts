// Parses the OTEL_* environment variables that configure tracing. Tracing is off unless an endpoint is set.

import { BadInput } from '@offerbook/wire/failures.ts';

/** The collector's address, and the attributes that identify this service. */
export interface Collector {
  readonly url: string;
  /** Sent with every batch. May contain a secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** OpenTelemetry resource attributes: the service name and any that the operator adds. */
  readonly resource: Readonly<Record<string, string>>;
}

export interface TracingSettings extends Collector {
  readonly sampling: Sampling;
}

/** Which requests are traced. */
export interface Sampling {
  /** Fraction of requests to sample, for requests without a sampling decision from the client. */
  readonly ratio: number;
  /** True if the sampling decision in the traceparent header takes precedence. */
  readonly followsParent: boolean;
}

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`]);

type Environment = Readonly<Record<string, string | undefined>>;

export function parseTracingSettings(environment: Environment): TracingSettings | undefined {
  const url = endpoint(environment);
  // Checked even if tracing is off, so that a mistake is found before an endpoint is set.
  const sampled = sampling(environment);
  if (url === undefined) return undefined;
  const { OTEL_SERVICE_NAME: name = '' } = environment;
  return {
    url,
    headers: {
      ...pairs(environment, 'OTEL_EXPORTER_OTLP_HEADERS'),
      ...pairs(environment, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
    },
    resource: {
      'service.name': 'offerbook',
      ...pairs(environment, 'OTEL_RESOURCE_ATTRIBUTES'),
      ...(name === '' ? {} : { 'service.name': name }),
    },
    sampling: sampled,
  };
}

/** The traces endpoint is used unchanged. If only the general endpoint is set, /v1/traces is appended to it. */
function endpoint(environment: Environment): string | undefined {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own = '', OTEL_EXPORTER_OTLP_ENDPOINT: shared = '' } =
    environment;
  if (own === '' && shared === '') return undefined;
  const text = own === '' ? `${shared.replace(/\/+$/, '')}/v1/traces` : own;
  // Omit the value from the error, because it may contain a password.
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    const variable = own === '' ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
    throw new BadInput(`${variable} must be a URL such as http://localhost:4318`);
  }
  return text;
}

/** Parses `key=value,other=value` with percent-encoded values. */
function pairs(environment: Environment, variable: string): Record<string, string> {
  const parts = (environment[variable] ?? '').split(',').filter((part) => part.trim() !== '');
  try {
    const read = parts.map((part) => {
      const [, key = '', value = ''] = /^\s*([^=]*[^=\s])\s*=(.*)$/s.exec(part) ?? [];
      if (key === '') throw new Error('a pair has no key');
      return [key, decodeURIComponent(value.trim())] as const;
    });
    // Throws if a name or value is not valid in a header.
    if (variable.endsWith('HEADERS')) new Headers(read.map(([key, value]) => [key, value]));
    return Object.fromEntries(read);
  } catch (cause) {
    throw new BadInput(`${variable} must be a list such as key=value,other=value`, { cause });
  }
}

function sampling(environment: Environment): Sampling {
  const sampler = environment.OTEL_TRACES_SAMPLER || 'parentbased_always_on';
  const argument = environment.OTEL_TRACES_SAMPLER_ARG || '1';
  if (!SAMPLERS.includes(sampler)) {
    throw new BadInput(`OTEL_TRACES_SAMPLER must be one of ${SAMPLERS.join(', ')}`);
  }
  const ratio = sampler.endsWith('ratio') ? Number(argument) : Number(sampler.endsWith('on'));
  if (!(ratio >= 0 && ratio <= 1)) throw new BadInput('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1');
  return { ratio, followsParent: sampler.startsWith('parentbased') };
}
