// Errors as the caller sees them: RFC 9457 problem documents, made from the error table and nothing else.

import { type ApiError, ERRORS } from '../domain/api-errors.ts';
import type { Exchange } from './exchange.ts';
import type { Reply } from './reply.ts';

export function problem(error: ApiError, { origin, path, requestId }: Exchange): Reply {
  const { status, title } = ERRORS[error.code];
  return {
    status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...error.headers,
    },
    body: JSON.stringify({
      type: `${origin}/errors/${error.code}`,
      title,
      status,
      detail: error.message,
      instance: path,
      code: error.code,
      requestId,
      ...(error.errors === undefined ? {} : { errors: error.errors }),
    }),
  };
}
