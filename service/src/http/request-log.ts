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
  const line = {
    requestId,
    traceId: span?.traceId,
    tokenId: token?.id,
    method: request.method,
    route,
    status,
    durationMs: Math.round(durationMs * 1000) / 1000,
    address,
  };
  if (PROBES.has(route)) logger.debug(line);
  else logger.info(line);
}
