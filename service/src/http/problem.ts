// Errors as the caller sees them: RFC 9457 problem documents, made from the error table and nothing else.

import { type ApiError, ERRORS } from '../domain/api-errors.ts';
import type { Reply } from './reply.ts';

export interface ProblemContext {
  /** Scheme and host under which the caller reached the service; the error's page is there too. */
  readonly origin: string;
  readonly path: string;
  readonly requestId: string;
}

export function problem(error: ApiError, context: ProblemContext): Reply {
  const { status, title } = ERRORS[error.code];
  return {
    status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...error.headers,
    },
    body: JSON.stringify({
      type: `${context.origin}/errors/${error.code}`,
      title,
      status,
      detail: error.message,
      instance: context.path,
      code: error.code,
      requestId: context.requestId,
      ...(error.errors === undefined ? {} : { errors: error.errors }),
    }),
  };
}
