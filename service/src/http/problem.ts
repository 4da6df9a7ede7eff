// Errors as the caller sees them: RFC 9457 problem documents, made from the error table and nothing else.

import { type ApiError, ERRORS, type ErrorCode } from '../domain/api-errors.ts';
import { PAGE_SIZE_MAX } from '../domain/page.ts';
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

/** What one looks like, for those who read about it. */
export function exampleProblem(code: ErrorCode, path: string): unknown {
  return {
    type: `https://api.example/errors/${code}`,
    title: ERRORS[code].title,
    status: ERRORS[code].status,
    detail: ERRORS[code].meaning,
    instance: path,
    code,
    requestId: '01931f4e-7d5c-7000-9a4e-0c7d3f1e2b5a',
    ...(code === 'invalid_parameter'
      ? { errors: [{ parameter: 'limit', detail: `must be a whole number from 1 to ${PAGE_SIZE_MAX}` }] }
      : {}),
  };
}
