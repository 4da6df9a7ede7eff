// The line that a request leaves in the log.

import type { Logger } from '../domain/logger.ts';

export interface LoggedRequest {
  readonly requestId: string;
  /** Of a request that is traced. */
  readonly traceId?: string | undefined;
  readonly tokenId: string | undefined;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly address: string;
}

/** What load balancers ask for all the time: at info, their questions would be most of the log. */
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/** Which requests leave a line: all, those that were answered with an error of either side, or none. */
export const LOGGED_REQUESTS = ['all', 'errors', 'none'] as const;
export type LoggedRequests = (typeof LOGGED_REQUESTS)[number];

export function logRequest(logger: Logger, request: LoggedRequest, which: LoggedRequests = 'all'): void {
  if (which === 'none' || (which === 'errors' && request.status < 400)) return;
  if (PROBES.has(request.route)) logger.debug(request);
  else logger.info(request);
}
