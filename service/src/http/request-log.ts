// Logs one line per request.

import type { Logger } from '../domain/logger.ts';

export interface LoggedRequest {
  readonly requestId: string;
  /** Undefined if the request is not traced. */
  readonly traceId?: string | undefined;
  readonly tokenId: string | undefined;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly address: string;
}

/** Load balancers poll these paths, so they are logged at debug level. Otherwise they would fill the log. */
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/** Which requests are logged: all, those with a 4xx or 5xx response, or none. */
export const LOGGED_REQUESTS = ['all', 'errors', 'none'] as const;
export type LoggedRequests = (typeof LOGGED_REQUESTS)[number];

export function logRequest(logger: Logger, request: LoggedRequest, which: LoggedRequests = 'all'): void {
  if (which === 'none' || (which === 'errors' && request.status < 400)) return;
  if (PROBES.has(request.route)) logger.debug(request);
  else logger.info(request);
}
