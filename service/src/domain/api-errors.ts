// Every error a caller can get, in one table: code, status, and the words of its page under /errors/.
// Codes are part of the interface and never change their meaning.

export interface ErrorKind {
  readonly status: number;
  readonly title: string;
  /** What happened, for the person who reads the error's page. */
  readonly meaning: string;
  /** What to do about it. */
  readonly remedy: string;
}

export const ERRORS = {
  missing_token: {
    status: 401,
    title: 'No access token was sent',
    meaning: 'The request has no Authorization header, or one of another scheme than Bearer.',
    remedy:
      'Send the header "Authorization: Bearer " followed by your token. Tokens in the query string are never read.',
  },
  invalid_token: {
    status: 401,
    title: 'The access token is not valid',
    meaning:
      'The token is malformed, mistyped, unknown, expired or revoked. The answer is the same for all of these.',
    remedy:
      'Check that the whole token was copied. If it was, ask the operator of the service for a new one.',
  },
  wrong_token_kind: {
    status: 403,
    title: 'This operation needs the other kind of token',
    meaning:
      'Retailers, cashback offers, coupons and promotions take public tokens only; transactions take private tokens only.',
    remedy:
      'Use a token that starts with ob_pub_ for the catalogue, and one that starts with ob_prv_ for transactions.',
  },
  private_token_in_browser: {
    status: 403,
    title: 'A private token must not be used in a browser',
    meaning:
      'The request carries a header that only browsers send (Origin or Sec-Fetch-Site), so it comes from a page, and everyone who opens the page can read the token.',
    remedy: 'Take the token out of the page, have it revoked, and read transactions from your server.',
  },
  invalid_parameter: {
    status: 400,
    title: 'A query parameter is not valid',
    meaning:
      'At least one query parameter has a value that cannot be used, or a name that this operation does not take. All of them are named under "errors".',
    remedy: 'Correct the parameters named under "errors". The same request will always be refused.',
  },
  not_found: {
    status: 404,
    title: 'There is nothing at this address',
    meaning: 'The path is not one of this service.',
    remedy: 'Check the spelling. The operations are listed in the API reference at /docs.',
  },
  several_hosts: {
    status: 400,
    title: 'The request names more than one host',
    meaning:
      'The request has two Host headers, or one with a comma. A proxy and this service could take it for different hosts.',
    remedy: 'Send one Host header. HTTP clients do so by themselves, so look for a proxy that adds one.',
  },
  deal_not_found: {
    status: 404,
    title: 'This link leads to nothing that is known here',
    meaning:
      'The id of the retailer or deal, the orgId, or the id of the click is unknown. The answer is the same for all of these.',
    remedy:
      'Take ids from the lists of the catalogue, and your orgId from the operator of the service. A deal that was withdrawn is no longer known.',
  },
  deal_gone: {
    status: 410,
    title: 'This deal is not active now',
    meaning:
      'The deal is over or has not begun, or the retailer that the link leads to is no longer in the catalogue.',
    remedy:
      'Show a deal from its startDate to its endDate. The lists of the catalogue have those that are active.',
  },
  method_not_allowed: {
    status: 405,
    title: 'This method is not supported here',
    meaning: 'All operations are reads, but for activation, which also takes POST.',
    remedy: 'Use one of the methods named in the Allow header.',
  },
  uri_too_long: {
    status: 414,
    title: 'The URL is too long',
    meaning: 'The path and query are longer than 16 KiB.',
    remedy: 'Shorten the query. No parameter takes more than 1,024 characters, and most take 200.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    meaning: 'More requests arrived within a minute than the policy in the RateLimit-Policy header allows.',
    remedy: 'Wait for the number of seconds in the Retry-After header, then go on more slowly.',
  },
  internal: {
    status: 500,
    title: 'Something went wrong on our side',
    meaning:
      'The service met a condition that it did not expect. The details are in its log, under the requestId.',
    remedy: 'Try again. If it happens again, tell the operator the requestId.',
  },
  unavailable: {
    status: 503,
    title: 'The service cannot answer right now',
    meaning:
      'The database cannot be reached, or the service is starting, stopping or overloaded. Nothing is lost.',
    remedy: 'Wait for the number of seconds in the Retry-After header and send the same request again.',
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

/** One bad query parameter, as listed under `errors` of a problem. */
export interface ParameterError {
  readonly parameter: string;
  readonly detail: string;
}

/** An error that the caller may see. Its message is the problem's `detail`; the cause stays in the log. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly ParameterError[] | undefined;

  constructor(
    code: ErrorCode,
    detail: string,
    options: { headers?: Record<string, string>; errors?: readonly ParameterError[]; cause?: unknown } = {},
  ) {
    super(detail, { cause: options.cause });
    this.code = code;
    this.headers = options.headers ?? {};
    this.errors = options.errors;
  }
}

/** For what succeeds when it is tried again after some seconds. */
export function unavailable(detail: string, retryAfterS: number, cause?: unknown): ApiError {
  const headers = { 'Retry-After': String(retryAfterS) };
  return new ApiError('unavailable', detail, { headers, cause });
}
