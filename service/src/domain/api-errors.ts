// Every error that the API returns: its code, its status, and the text of its page under /errors/. Codes are part of the
// API and never change meaning.

export interface ErrorKind {
  readonly status: number;
  readonly title: string;
  readonly meaning: string;
  readonly remedy: string;
  /** The problem's usual detail; undefined if every detail depends on the request. */
  readonly detail?: string;
}

/** In bytes. Room for the longest `passbackUid`, `passbackData` and `to` in any script, percent-encoded. */
export const URL_LENGTH_MAX = 16 * 1024;

export const ERRORS = {
  missing_token: {
    status: 401,
    title: 'No access token was sent',
    meaning: 'The request has no Authorization header, or its scheme is not Bearer.',
    remedy:
      'Send the header "Authorization: Bearer " followed by your token. Tokens in the query string are not accepted.',
    detail: 'Send the header "Authorization: Bearer <token>".',
  },
  invalid_token: {
    status: 401,
    title: 'The access token is not valid',
    meaning:
      'The token is malformed, mistyped, unknown, expired or revoked. The response is the same in every case.',
    remedy: 'Check that you copied the whole token. If you did, ask the operator for a new one.',
    detail: 'The access token is malformed, unknown, expired or revoked.',
  },
  wrong_token_kind: {
    status: 403,
    title: 'This operation needs the other kind of token',
    meaning:
      'Retailers, cashback offers, coupons and promotions need a public token; transactions need a private token.',
    remedy:
      'Use a token that starts with ob_pub_ for the catalogue and one that starts with ob_prv_ for transactions.',
  },
  private_token_in_browser: {
    status: 403,
    title: 'A private token must not be used in a browser',
    meaning:
      'The request has a header that only browsers send (Origin or Sec-Fetch-Site), so it comes from a page, and everyone who opens that page can read the token.',
    remedy: 'Remove the token from the page, have it revoked, and read transactions from your server.',
    detail:
      'The request has a header that only browsers send: Origin or Sec-Fetch-Site. Private tokens are for servers only.',
  },
  invalid_parameter: {
    status: 400,
    title: 'A parameter is not valid',
    meaning:
      'At least one parameter in the path or the query has an invalid value, or a name that this operation does not accept. "errors" lists all of them.',
    remedy: 'Correct the parameters listed under "errors". Do not retry the request unchanged.',
  },
  not_found: {
    status: 404,
    title: 'No such path',
    meaning: 'This service has no such path.',
    remedy: 'Check the spelling. The operations are listed in the API reference at /docs/reference.',
    detail: 'No such path. All paths are listed in the API reference at /docs/reference.',
  },
  several_hosts: {
    status: 400,
    title: 'The request names more than one host',
    meaning:
      'The request has two Host headers, or one with a comma. A proxy and this service could disagree about the host.',
    remedy: 'Send one Host header. HTTP clients do so by default, so look for a proxy that adds another.',
    detail: 'The request names more than one host. Send one Host header.',
  },
  deal_not_found: {
    status: 404,
    title: 'Unknown retailer, deal, organisation or click',
    meaning:
      'The retailer or deal id, the orgId or the click id is unknown, or the deal was withdrawn. The response is the same in every case. Look-ups also return it for deals that are not active and for retailers without active deals.',
    remedy: 'Use ids from the catalogue lists, and ask the operator for your orgId.',
    detail: 'No active retailer or deal has this id.',
  },
  transaction_not_found: {
    status: 404,
    title: 'Unknown transaction',
    meaning: 'No transaction of your organisation has this id.',
    remedy: 'Use ids from /v1/transactions/, and a token of the same organisation.',
    detail: 'No transaction of your organisation has this id.',
  },
  deal_gone: {
    status: 410,
    title: 'This deal is not active now',
    meaning: 'The deal has ended or has not started, or its retailer is no longer in the catalogue.',
    remedy:
      'Show a deal only between its startDate and endDate. The catalogue lists contain only active deals.',
    detail: 'This deal is not active now.',
  },
  method_not_allowed: {
    status: 405,
    title: 'This method is not supported here',
    meaning: 'All operations are reads, except for activation, which also accepts POST.',
    remedy: 'Use one of the methods in the Allow header.',
  },
  uri_too_long: {
    status: 414,
    title: 'The URL is too long',
    meaning: 'The path and query are longer than 16 KiB.',
    remedy: 'Shorten the query. Most parameters are limited to 200 characters, and none can exceed 2,048.',
    detail: `The URL must not be longer than ${URL_LENGTH_MAX} bytes.`,
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    meaning: 'More requests arrived within a minute than the policy in the RateLimit-Policy header allows.',
    remedy: 'Wait for the number of seconds in the Retry-After header, then continue at a lower rate.',
  },
  internal: {
    status: 500,
    title: 'Something went wrong on our side',
    meaning: 'An unexpected error occurred in the service. The details are in its log, under the requestId.',
    remedy: 'Try again. If the error persists, send the requestId to the operator.',
    detail: 'Something went wrong on our side.',
  },
  unavailable: {
    status: 503,
    title: 'The service is temporarily unavailable',
    meaning:
      'The database is unreachable, or the service is starting, stopping or overloaded. No data is lost.',
    remedy: 'Wait for the number of seconds in the Retry-After header and send the same request again.',
    detail: 'The database is unreachable. Try again shortly.',
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

/** One invalid query parameter, as listed in the problem's `errors`. */
export interface ParameterError {
  readonly parameter: string;
  readonly detail: string;
}

/** An error to return to the client. Its message becomes the problem's `detail`; the cause is only logged. */
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

/** Creates a 503 for a request that will probably succeed after `retryAfterS` seconds. */
export function unavailable(detail: string, retryAfterS: number, cause?: unknown): ApiError {
  const headers = { 'Retry-After': String(retryAfterS) };
  return new ApiError('unavailable', detail, { headers, cause });
}
