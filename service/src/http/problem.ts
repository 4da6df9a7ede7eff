// Error responses: problem documents (RFC 9457), built from the error table.

import { type ApiError, ERRORS } from '../domain/api-errors.ts';
import type { Exchange } from './exchange.ts';
import type { Reply } from './reply.ts';

export function problem(error: ApiError, exchange: Exchange): Reply {
  return {
    status: ERRORS[error.code].status,
    headers: new Headers({
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...error.headers,
    }),
    body: JSON.stringify(problemDocument(error, exchange)),
  };
}

export function problemDocument(
  { code, message, errors }: ApiError,
  { origin, path, requestId }: Pick<Exchange, 'origin' | 'path' | 'requestId'>,
) {
  const { status, title } = ERRORS[code];
  return {
    type: `${origin}/errors/${code}`,
    title,
    status,
    detail: message,
    instance: path,
    code,
    requestId,
    ...(errors && { errors }),
  };
}
