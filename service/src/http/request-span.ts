// Attributes of a request's span, according to OpenTelemetry's stable HTTP conventions. They never contain client input, such
// as the query or an unknown path.

import type { Span, TraceParent, Tracer } from '../tracing/tracer.ts';
import type { Exchange } from './exchange.ts';

const KNOWN_METHOD = /^(?:CONNECT|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT|TRACE)$/;

export function beginRequestSpan(
  tracer: Tracer,
  parent: TraceParent | undefined,
  request: Request,
  scheme: 'http' | 'https',
): Span | undefined {
  const span = tracer.beginRequest(parent);
  if (span === undefined) return undefined;
  span.attributes['http.request.method'] = KNOWN_METHOD.test(request.method) ? request.method : '_OTHER';
  span.attributes['url.scheme'] = scheme;
  return span;
}

/** Records the route instead of the path, which can contain a token or a click id. */
export function endRequestSpan(span: Span, { route, request }: Exchange, status: number): void {
  const { attributes } = span;
  const method = KNOWN_METHOD.test(request.method) ? request.method : 'HTTP';
  const isKnown = route.startsWith('/');
  if (isKnown) attributes['http.route'] = route;
  attributes['url.path'] = isKnown ? route : '/REDACTED';
  attributes['http.response.status_code'] = status;
  if (status >= 500) attributes['error.type'] = String(status);
  span.end(isKnown ? `${method} ${route}` : method, status >= 500);
}
