// Opens tracing for a node, a worker, an import or a pull.

import { basename } from 'node:path';
import { readTracingSettings } from '../config.ts';
import { type Clock, systemClock } from '../domain/clock.ts';
import { sqlitePath } from '../storage/open-database.ts';
import { closing } from '../storage/open-once.ts';
import { otlpExporter } from '../tracing/otlp-exporter.ts';
import { type Attributes, buildTracer, type Span } from '../tracing/tracer.ts';
import type { TracingSettings } from '../tracing/tracing-settings.ts';
import type { NodeOptions } from './node/node-settings.ts';
import { printNote } from './output.ts';

/** For a server. Logs when the collector starts rejecting spans, and when it has recovered. */
export function openTracing({ tracing, databaseUrl, clock, logger }: NodeOptions) {
  return buildTracing(tracing, databaseUrl, clock, (reason) => {
    if (reason === undefined) logger.info('the collector accepts spans again');
    else logger.warn({ reason }, 'the collector rejects spans; they are dropped');
  });
}

/** Runs the work of a command in a span, and sends it before it returns. The span is undefined if tracing is off. */
export async function traceCommand<T>(
  databaseUrl: string,
  name: string,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const tracing = buildTracing(
    readTracingSettings(),
    databaseUrl,
    systemClock,
    (reason) => reason && printNote(`offerbook: the trace collector rejected spans: ${reason}`),
  );
  if (tracing === undefined) return work(undefined);
  await using _ = closing(tracing.exporter);
  return await tracing.tracer.trace(name, work);
}

/** `onChange` gets a reason when the collector starts rejecting spans, and undefined when it accepts them again. */
function buildTracing(
  settings: TracingSettings | undefined,
  databaseUrl: string,
  clock: Clock,
  onChange: (reason: string | undefined) => void,
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

/** Includes only the database's name, because the URL may contain a password. */
function databaseAttributes(url: string): Attributes {
  const path = sqlitePath(url);
  if (path !== undefined) return { 'db.system.name': 'sqlite', 'db.namespace': basename(path) };
  const [, name] = /^[^/]*:\/\/[^/]*\/([^/?]+)/.exec(url) ?? [];
  return { 'db.system.name': 'postgresql', ...(name === undefined ? {} : { 'db.namespace': name }) };
}
