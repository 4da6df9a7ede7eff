// Everything that can go wrong, as classes that a caller can tell apart, with messages that say what to do.
// No message ever contains the token.

import { isBrowser } from './browser.ts';
import type { ParameterError, Problem } from './wire.ts';

/** The codes of the service's problems. A newer service may send one that is not listed here. */
export type ErrorCode = Problem['code'] | (string & {});

/** What all errors of this library have in common. */
export abstract class OfferbookError extends Error {
  /** A stable name for programs. */
  abstract readonly code: string;
  /** How many times the request was sent before it was given up; 0 when it was not sent at all. */
  attempts = 0;
}

/** The service refused the request, or could not answer it: a problem as in RFC 9457. */
export class ApiError extends OfferbookError {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  /** Under which the service has logged the request; tell it to the operator. */
  readonly requestId: string;
  /** What went wrong this time. */
  readonly detail: string;
  /** Every bad parameter; empty unless `code` is `invalid_parameter`. */
  readonly errors: readonly ParameterError[];
  /** A page that explains the error and what to do about it. */
  readonly type: string;
  /** How long the service asked to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(problem: Problem, retryAfterMs?: number) {
    super(
      `${problem.detail} (${problem.status} ${problem.code}, request ${problem.requestId}; see ${problem.type})`,
    );
    this.code = problem.code;
    this.status = problem.status;
    this.requestId = problem.requestId;
    this.detail = problem.detail;
    this.errors = problem.errors ?? [];
    this.type = problem.type;
    this.retryAfterMs = retryAfterMs;
  }
}

/** No answer, or one that broke off. */
export class NetworkError extends OfferbookError {
  override readonly name = 'NetworkError';
  readonly code = 'network';

  constructor(url: string, cause: unknown) {
    const advice = isBrowser() ? ', and that this page may call the address' : '';
    super(`No whole answer from ${url}: ${reasonOf(cause)}. Check the address and the network${advice}.`, {
      cause,
    });
  }
}

/** Node says only "fetch failed", and why in the error's own cause. */
function reasonOf(error: unknown): string {
  const { message = String(error), cause } = (error ?? {}) as Partial<SystemError>;
  const why = cause?.code ?? cause?.message;
  return message.replace(/[.?!]$/, '') + (why === undefined ? '' : ` (${why})`);
}

/** What runtimes throw, each with some of this. */
export interface SystemError extends Error {
  readonly code: string;
  readonly cause: Partial<SystemError>;
}

/** The whole answer did not arrive within `timeoutMs`. */
export class TimeoutError extends OfferbookError {
  override readonly name = 'TimeoutError';
  readonly code = 'timeout';

  constructor(url: string, timeoutMs: number) {
    super(`No whole answer from ${url} within ${timeoutMs} ms. If it is just slow, raise timeoutMs.`);
  }
}

/** Something in front of the service, such as a proxy, answered 429 or 5xx in its place. */
export class OutageError extends OfferbookError {
  override readonly name = 'OutageError';
  readonly code = 'outage';
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor(url: string, status: number, retryAfterMs?: number) {
    super(
      `${url} cannot be reached: something in front of the service answered ${status} in its place. Try again later; if it lasts, tell the operator of the service.`,
    );
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The caller's signal ended the request. `cause` is the signal's reason. */
export class AbortedError extends OfferbookError {
  // The name that other code looks for.
  override readonly name = 'AbortError';
  readonly code = 'aborted';

  constructor(cause: unknown) {
    super('The request was aborted by its signal.', { cause });
  }
}

/**
 * An answer came, but not one of Offerbook's. `not_offerbook`: something else answered, such as a login page.
 * `bad_shape`: JSON with other contents than agreed. `stuck_cursor`: pages that do not go on. `no_complete_through`:
 * transactions without that header.
 */
export class MalformedResponseError extends OfferbookError {
  override readonly name = 'MalformedResponseError';
  readonly code: 'not_offerbook' | 'bad_shape' | 'stuck_cursor' | 'no_complete_through';
  readonly status: number;

  constructor(code: MalformedResponseError['code'], message: string, status = 200) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** The token cannot be used like this. Nothing was sent. */
export class TokenError extends OfferbookError {
  override readonly name = 'TokenError';
  readonly code: 'missing_token' | 'invalid_token' | 'wrong_token_kind' | 'private_token_in_browser';

  constructor(code: TokenError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The text that should be a follower's checkpoint is none, or lies in the future, or its file cannot be read or written. */
export class CheckpointError extends OfferbookError {
  override readonly name = 'CheckpointError';
  readonly code = 'bad_checkpoint';
}
