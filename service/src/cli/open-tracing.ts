// Puts tracing together for whatever wants it: a node, each of its workers, an import.

import { basename } from 'node:path';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/logger.ts';
import { sqlitePath } from '../storage/open-database.ts';
import { OtlpExporter } from '../tracing/otlp-exporter.ts';
import { type Attributes, Tracer } from '../tracing/tracer.ts';
import type { TracingSettings } from '../tracing/tracing-settings.ts';

export type Tracing = NonNullable<ReturnType<typeof openTracing>>;

interface TracingOptions {
  readonly databaseUrl: string;
  /** Told when the collector stops taking spans, with the reason, and when it takes them again, without. */
  readonly onChange: (reason: string | undefined) => void;
  readonly clock?: Clock;
}

/** Undefined when nobody has asked for it. */
export function openTracing(
  settings: TracingSettings | undefined,
  { databaseUrl, onChange, clock }: TracingOptions,
) {
  if (settings === undefined) return undefined;
  const exporter = new OtlpExporter(settings, { onChange });
  const tracer = new Tracer({
    sampling: settings.sampling,
    database: databaseAttributes(databaseUrl),
    onEnd: (span) => exporter.add(span),
    ...(clock === undefined ? {} : { clock }),
  });
  return { tracer, exporter };
}

/** What a node does when its collector goes away and comes back. */
export function logCollector(logger: Logger): TracingOptions['onChange'] {
  return (reason) => {
    if (reason === undefined) logger.info('the collector takes spans again');
    else logger.warn({ reason }, 'the collector does not take spans; they are dropped');
  };
}

/** Of the URL nothing but the name of the database: it may hold a password. */
function databaseAttributes(url: string): Attributes {
  const path = sqlitePath(url);
  if (path !== undefined) return { 'db.system.name': 'sqlite', 'db.namespace': basename(path) };
  const [, name] = /^[^/]*:\/\/[^/]*\/([^/?]+)/.exec(url) ?? [];
  return { 'db.system.name': 'postgresql', ...(name === undefined ? {} : { 'db.namespace': name }) };
}
