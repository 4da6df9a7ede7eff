// Where spans go and which of them, from the variables that OpenTelemetry has named. Without an endpoint there are none.

import { BadInput } from '@offerbook/wire/failures.ts';

export interface TracingSettings {
  /** Where batches are posted. */
  readonly url: string;
  /** Sent with every batch; they may hold a secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** What sends them: the service's name and what else the operator says of it. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampling: Sampling;
}

/** Which requests are recorded. */
export interface Sampling {
  /** Of those that nobody else has decided about. */
  readonly ratio: number;
  /** Whether a caller that names its trace decides. */
  readonly followsParent: boolean;
}

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`]);

type Environment = Readonly<Record<string, string | undefined>>;

export function parseTracingSettings(environment: Environment): TracingSettings | undefined {
  const url = endpoint(environment);
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
    sampling: sampling(environment),
  };
}

/** That of traces alone is used as it is; to that of all signals the path of traces is added. */
function endpoint(environment: Environment): string | undefined {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own = '', OTEL_EXPORTER_OTLP_ENDPOINT: shared = '' } =
    environment;
  if (own === '' && shared === '') return undefined;
  const text = own === '' ? `${shared.replace(/\/+$/, '')}/v1/traces` : own;
  // Not repeated: it may hold a password.
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    const variable = own === '' ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
    throw new BadInput(`${variable} must be a URL such as http://localhost:4318`);
  }
  return text;
}

/** `key=value,other=value`, the values percent-encoded. */
function pairs(environment: Environment, variable: string): Record<string, string> {
  const parts = (environment[variable] ?? '').split(',').filter((part) => part.trim() !== '');
  try {
    const read = parts.map((part) => {
      const [, key = '', value = ''] = /^\s*([^=]*[^=\s])\s*=(.*)$/s.exec(part) ?? [];
      if (key === '') throw new Error('there is no key');
      return [key, decodeURIComponent(value.trim())] as const;
    });
    // Throws for what cannot be sent as a header.
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
