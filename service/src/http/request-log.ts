// Logs one line per request.

import type { Logger } from '../domain/logger.ts';
import type { Exchange } from './exchange.ts';

/** Logged at debug level, because load balancers poll these paths and would fill the log. */
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/** Which requests are logged: all, those with a 4xx or 5xx response, or none. */
export const LOGGED_REQUESTS = ['all', 'errors', 'none'] as const;
export type LoggedRequests = (typeof LOGGED_REQUESTS)[number];

export function logRequest(
  logger: Logger,
  { requestId, span, token, request, route, address }: Exchange,
  status: number,
  durationMs: number,
  which: LoggedRequests,
): void {
  if (which === 'none' || (which === 'errors' && status < 400)) return;
  // Built by hand, because JSON.stringify would take twice as long. Only the method can contain characters to escape.
  const fields =
    `,"requestId":"${requestId}"` +
    (span === undefined ? '' : `,"traceId":"${span.traceId}"`) +
    (token === undefined ? '' : `,"tokenId":"${token.id}"`) +
    `,"method":${request.method === 'GET' ? '"GET"' : JSON.stringify(request.method)}` +
    `,"route":"${route}","status":${status},"durationMs":${Math.round(durationMs * 1000) / 1000},"address":"${address}"`;
  logger.serialised(PROBES.has(route) ? 'debug' : 'info', fields);
}
