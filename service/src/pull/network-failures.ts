// Why a request to a network failed, and whether it can be repeated. Messages never contain credentials.

import { NetworkError } from '@offerbook/feeds/pull/unexpected.ts';
import { BrokenFile } from '@offerbook/wire/rows/raw-row.ts';
import { parseRetryAfterMs } from '@offerbook/wire/time.ts';
import type { RequestOutcome } from '../domain/pull.ts';
import { CredentialsRepeated, ResponseTooLarge } from './response-watch.ts';

/** The source cannot be used in this run: the network does not respond, or the credentials are wrong. */
export class SourceStopped extends Error {
  override readonly name = 'SourceStopped';
}

/** The network rejects this request, or has failed several times. Other requests may work. */
export class RequestFailed extends Error {
  override readonly name: string = 'RequestFailed';
}

/** The response is too large. A request for fewer rows may work. */
export class TooMuch extends RequestFailed {
  override readonly name = 'TooMuch';
}

/** Replaces credentials in a message. */
type Redact = (text: string) => string;

const MESSAGE_BYTES_MAX = 2_000;

export type Failure =
  | { readonly kind: 'too many'; readonly waitMs: number | undefined }
  /** Repeat the request. `slow` and `unreachable`: there was no complete response. */
  | { readonly kind: 'retry' | 'slow' | 'unreachable'; readonly why: string }
  | { readonly kind: 'reject' | 'too much' | 'stop' | 'expired'; readonly why: string };

export type Result<T> = { readonly value: T } | { readonly failure: Failure };

/** Failures after which a request is repeated, with their weights. A slow request counts twice, because it takes a minute or more. */
export const REPEATABLE: Readonly<Partial<Record<Failure['kind'], number>>> = {
  retry: 1,
  unreachable: 1,
  slow: 2,
};

export const OUTCOMES: Readonly<Record<Failure['kind'], RequestOutcome>> = {
  'too many': 'too many',
  retry: 'failed',
  slow: 'failed',
  unreachable: 'failed',
  'too much': 'failed',
  reject: 'refused',
  stop: 'refused',
  expired: 'refused',
};

export function errorOf({ kind, why }: Exclude<Failure, { readonly kind: 'too many' }>): Error {
  if (kind === 'too much') return new TooMuch(why);
  return kind === 'retry' || kind === 'reject' ? new RequestFailed(why) : new SourceStopped(why);
}

/** Rethrows errors that are bugs of ours, which must not look like failures of the network. */
export function explainError(error: unknown, redact: Redact): Failure {
  if (error instanceof ResponseTooLarge) return { kind: 'too much', why: error.message };
  if (error instanceof CredentialsRepeated) {
    const why =
      'the response contains our credentials, so nothing of it was stored; report this to the network';
    return { kind: 'stop', why };
  }
  if (error instanceof NetworkError) {
    return { kind: 'reject', why: redact(`the network rejected the request: ${error.message}`) };
  }
  if (error instanceof BrokenFile) {
    const { field, reason } = error.problem;
    return { kind: 'retry', why: redact(`${field} ${reason}`) };
  }
  const { name, code, message } = error as NodeJS.ErrnoException;
  if (['TypeError', 'RangeError', 'ReferenceError'].includes(name) && code === undefined) throw error;
  return { kind: 'unreachable', why: redact(`the network cannot be reached: ${message}`) };
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
): Promise<Failure> {
  const { status, headers } = response;
  if (status === 429 || tooManyStatuses.includes(status)) {
    return { kind: 'too many', waitMs: readWait(headers, nowMs) };
  }
  const text = await readText(body).catch(() => '');
  const why = `the network answered with status ${status}${quoteMessage(text, redact)}`;
  if (status >= 500) return { kind: 'retry', why };
  if (status === 413) return { kind: 'too much', why };
  if (status === 401) return { kind: 'expired', why: `${why}; check the credentials` };
  if (status === 403) return { kind: 'reject', why: `${why}; check what the credentials allow` };
  return { kind: 'reject', why };
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
