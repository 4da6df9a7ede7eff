// Why a request to a network failed, and whether it can be repeated. Messages never contain credentials.

import { NetworkError } from '@offerbook/feeds/pull/network-pull.ts';
import { BrokenFile } from '@offerbook/wire/rows/raw-row.ts';
import { parseRetryAfterMs } from '@offerbook/wire/time.ts';
import type { RequestOutcome } from '../domain/pull.ts';

/** How a failed request is counted, how often it may be repeated, and what it means for the source. */
const KINDS = {
  'too many': { outcome: 'too many' },
  /** A slow request counts twice, because it takes a minute or more. */
  slow: { outcome: 'failed', weight: 2, isFinal: true },
  unreachable: { outcome: 'failed', weight: 1, isFinal: true },
  retry: { outcome: 'failed', weight: 1 },
  /** The response is too large. A request for fewer rows may work. */
  'too much': { outcome: 'failed' },
  reject: { outcome: 'refused' },
  expired: { outcome: 'refused', isFinal: true },
  stop: { outcome: 'refused', isFinal: true },
} as const satisfies Record<string, FailureRules>;

interface FailureRules {
  readonly outcome: RequestOutcome;
  /** Failures with a weight are repeated until the sum of their weights reaches the number of tries. */
  readonly weight?: number;
  /** True if the source cannot be used in this run. Other requests may still work after a failure that is not final. */
  readonly isFinal?: boolean;
}

/** The message contains no credentials. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';
  readonly kind: keyof typeof KINDS;
  /** The delay that the network has requested. */
  readonly waitMs: number | undefined;

  constructor(kind: keyof typeof KINDS, message: string, waitMs?: number) {
    super(message);
    this.kind = kind;
    this.waitMs = waitMs;
  }

  get rules(): FailureRules {
    return KINDS[this.kind];
  }
}

export function isTooMuch(error: unknown): boolean {
  return error instanceof RequestFailed && error.kind === 'too much';
}

/** Replaces credentials in a message. */
type Redact = (text: string) => string;

const MESSAGE_BYTES_MAX = 2_000;

/** Rethrows errors that are bugs of ours, which must not look like failures of the network. */
export function explainError(error: unknown, redact: Redact): RequestFailed {
  if (error instanceof NetworkError)
    return new RequestFailed('reject', redact(`the network rejected the request: ${error.message}`));
  if (error instanceof BrokenFile) {
    const { field, reason } = error.problem;
    return new RequestFailed('retry', redact(`${field} ${reason}`));
  }
  const { name, code, message } = error as NodeJS.ErrnoException;
  if (['TypeError', 'RangeError', 'ReferenceError'].includes(name) && code === undefined) throw error;
  return new RequestFailed('unreachable', redact(`the network cannot be reached: ${message}`));
}

/** Reads the response to a request that was not answered with status 200. */
export async function readFailure(
  response: Response,
  body: AsyncIterable<Uint8Array>,
  {
    tooManyStatuses = [],
    nowMs,
    redact,
  }: { tooManyStatuses?: readonly number[] | undefined; nowMs: number; redact: Redact },
): Promise<RequestFailed> {
  const { status, headers } = response;
  if (status === 429 || tooManyStatuses.includes(status)) {
    const message = 'the network keeps rejecting requests because of its rate limit';
    return new RequestFailed('too many', message, readWait(headers, nowMs));
  }
  const text = await readText(body).catch(() => '');
  const why = `the network answered with status ${status}${quoteMessage(text, redact)}`;
  if (status >= 500) return new RequestFailed('retry', why);
  if (status === 413) return new RequestFailed('too much', why);
  if (status === 401) return new RequestFailed('expired', `${why}; check the credentials`);
  if (status === 403) return new RequestFailed('reject', `${why}; check what the credentials allow`);
  return new RequestFailed('reject', why);
}

export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MESSAGE_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).toString();
}

const MESSAGE_FIELDS = ['message', 'Message', 'description', 'error_description', 'error'];

/** Quotes the message of an error response, and no other part of it. */
function quoteMessage(text: string, redact: Redact): string {
  try {
    const fields = JSON.parse(text) as Record<string, unknown>;
    const message = MESSAGE_FIELDS.map((name) => fields[name]).find((value) => typeof value === 'string');
    return typeof message === 'string' ? `: ${JSON.stringify(redact(message).slice(0, 200))}` : '';
  } catch {
    return '';
  }
}

/** Returns how long the network asks to wait; undefined if it does not specify a time. */
function readWait(headers: Headers, nowMs: number): number | undefined {
  for (const name of ['Retry-After', 'X-RateLimit-Retry-After', 'X-RateLimit-Reset']) {
    const waitMs = parseRetryAfterMs(headers.get(name), nowMs);
    if (waitMs !== undefined) return waitMs;
  }
  return undefined;
}
