// The client's error classes. Every message states what to do next; none contains the token.

import { isBrowser } from './browser.ts';
import type { ParameterError, Problem } from './wire.ts';

/** The service's error codes. A newer service may send other codes. */
export type ErrorCode = Problem['code'] | (string & {});

/** Base class of all errors that this library throws for tokens, requests and responses. */
export abstract class OfferbookError extends Error {
  /** Stable, machine-readable name of the error. */
  abstract readonly code: string;
  /** How many times the request was sent; 0 if it was never sent. */
  attempts = 0;
}

/** The service responded with an error: a problem document (RFC 9457). */
export class ApiError extends OfferbookError {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  /** The request's id in the service's log; quote it to the operator. */
  readonly requestId: string;
  /** Explanation of this particular error. */
  readonly detail: string;
  /** All invalid parameters; empty unless `code` is `invalid_parameter`. */
  readonly errors: readonly ParameterError[];
  /** URL of a page that explains the error and what to do about it. */
  readonly type: string;
  /** The delay that the service requested in `Retry-After`. */
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

/** No response arrived, or the response was cut off. */
export class NetworkError extends OfferbookError {
  override readonly name = 'NetworkError';
  readonly code = 'network';

  constructor(url: string, cause: unknown) {
    const advice = isBrowser() ? ', and that CORS allows this page to call it' : '';
    super(
      `No complete response from ${url}: ${reasonOf(cause)}. Check the address and the network${advice}.`,
      {
        cause,
      },
    );
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed',
  ENOTFOUND: 'unknown host',
};

/** Node reports only "fetch failed"; the reason is in the error's cause. Bun's messages have several sentences. */
function reasonOf(error: unknown): string {
  const { message = String(error), cause, code } = (error ?? {}) as Partial<SystemError>;
  const known = REASONS[cause?.code ?? code ?? ''];
  if (known !== undefined) return known;
  const why = cause?.code ?? cause?.message;
  return message.replace(/[.?!]$/, '') + (why === undefined ? '' : ` (${why})`);
}

/** Errors thrown by fetch; each runtime sets some of these fields. */
export interface SystemError extends Error {
  readonly code: string;
  readonly cause: Partial<SystemError>;
}

/** The complete response did not arrive within `timeoutMs`. */
export class TimeoutError extends OfferbookError {
  override readonly name = 'TimeoutError';
  readonly code = 'timeout';

  constructor(url: string, timeoutMs: number) {
    super(`No complete response from ${url} within ${timeoutMs} ms. If it is just slow, raise timeoutMs.`);
  }
}

/** A proxy in front of the service returned 429 or 5xx instead of the service's response. */
export class OutageError extends OfferbookError {
  override readonly name = 'OutageError';
  readonly code = 'outage';
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor(url: string, status: number, retryAfterMs?: number) {
    super(
      `${url} is unreachable: a proxy in front of the service returned ${status}. Try again later; if this persists, contact the operator of the service.`,
    );
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The caller's signal aborted the request. `cause` is the signal's reason. */
export class AbortedError extends OfferbookError {
  // The standard name, which other code checks for.
  override readonly name = 'AbortError';
  readonly code = 'aborted';

  constructor(cause: unknown) {
    super('The request was aborted by its signal.', { cause });
  }
}

/**
 * The response is not a valid Offerbook response. `not_offerbook`: another server responded, for example with a login
 * page. `bad_shape`: JSON with unexpected contents. `stuck_cursor`: a page whose cursor does not advance.
 * `no_complete_through`: transactions without that header.
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

/** The token is missing, malformed, or of the wrong kind for this use. Nothing was sent. */
export class TokenError extends OfferbookError {
  override readonly name = 'TokenError';
  readonly code: 'missing_token' | 'invalid_token' | 'wrong_token_kind' | 'private_token_in_browser';

  constructor(code: TokenError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The checkpoint is malformed or in the future, or its file cannot be read or written. */
export class CheckpointError extends OfferbookError {
  override readonly name = 'CheckpointError';
  readonly code = 'bad_checkpoint';
}

/**
 * A request is not an authentic webhook. `bad_header`: a header is missing or malformed. `bad_timestamp`: too old, or a clock is
 * wrong. `bad_signature`: no signature matches. `bad_body`: authentic, but not an event that this version of the client knows.
 * `too_large`: the body exceeds the limit.
 */
export class WebhookError extends OfferbookError {
  override readonly name = 'WebhookError';
  readonly code: 'bad_header' | 'bad_timestamp' | 'bad_signature' | 'bad_body' | 'too_large';

  constructor(code: WebhookError['code'], message: string) {
    super(message);
    this.code = code;
  }
}
