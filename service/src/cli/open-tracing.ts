// Opens tracing for a node, a worker, an import or a pull.

import { basename } from 'node:path';
import { readTracingSettings } from '../config.ts';
import { type Clock, systemClock } from '../domain/clock.ts';
import type { Logger } from '../domain/logger.ts';
import { sqlitePath } from '../storage/open-database.ts';
import { otlpExporter } from '../tracing/otlp-exporter.ts';
import { type Attributes, buildTracer, type Span } from '../tracing/tracer.ts';
import type { TracingSettings } from '../tracing/tracing-settings.ts';
import { printNote } from './output.ts';

interface TracingOptions {
  readonly databaseUrl: string;
  /** Called with a reason when the collector starts rejecting spans, and with undefined when it accepts them again. */
  readonly onChange: (reason: string | undefined) => void;
  readonly clock: Clock;
}

export function openTracing(
  settings: TracingSettings | undefined,
  { databaseUrl, onChange, clock }: TracingOptions,
) {
  if (settings === undefined) return undefined;
  const exporter = otlpExporter(settings, { onChange });
  const tracer = buildTracer({
    sampling: settings.sampling,
    database: databaseAttributes(databaseUrl),
    onEnd: (span) => exporter.add(span),
    clock,
  });
  return { tracer, exporter };
}

/** Runs the work of a command in a span, and sends it before it returns. The span is undefined if tracing is off. */
export async function traceCommand<T>(
  databaseUrl: string,
  name: string,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const tracing = openTracing(readTracingSettings(), {
    databaseUrl,
    clock: systemClock,
    onChange: (reason) => reason && printNote(`offerbook: the trace collector rejected spans: ${reason}`),
  });
  if (tracing === undefined) return work(undefined);
  try {
    return await tracing.tracer.trace(name, work);
  } finally {
    await tracing.exporter.close();
  }
}

/** Logs when the collector starts rejecting spans, and when it has recovered. */
export function logCollector(logger: Logger): TracingOptions['onChange'] {
  return (reason) => {
    if (reason === undefined) logger.info('the collector accepts spans again');
    else logger.warn({ reason }, 'the collector rejects spans; they are dropped');
  };
}

/** Includes only the database's name, because the URL may contain a password. */
function databaseAttributes(url: string): Attributes {
  const path = sqlitePath(url);
  if (path !== undefined) return { 'db.system.name': 'sqlite', 'db.namespace': basename(path) };
  const [, name] = /^[^/]*:\/\/[^/]*\/([^/?]+)/.exec(url) ?? [];
  return { 'db.system.name': 'postgresql', ...(name === undefined ? {} : { 'db.namespace': name }) };
}
