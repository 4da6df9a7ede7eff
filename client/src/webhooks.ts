// Entry point @offerbook/client/webhooks: verifies webhooks (Standard Webhooks 1.0, with HMAC-SHA256 signatures), and receives
// them on servers with the web's Request and Response, such as Bun, Deno, workers, Hono and Next.js.

import { type Clock, systemClock } from './clock.ts';
import { WebhookError } from './errors.ts';
import type { TransactionsChanged } from './wire.ts';

export { WebhookError } from './errors.ts';
export type { Transaction, TransactionChanges, TransactionsChanged } from './wire.ts';

/** A `Headers` object, or an object with the header names in any case, such as Node's `request.headers`. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** The endpoint's secret, `whsec_…`. While you rotate it, pass the old and the new secret. */
export type WebhookSecret = string | readonly string[];

export interface WebhookInput {
  headers: WebhookHeaders;
  /** The body exactly as it arrived. Do not parse it and print it again: the signature covers every byte. */
  body: Uint8Array | ArrayBuffer | string;
  secret: WebhookSecret;
  clock?: Pick<Clock, 'now'> | undefined;
}

export interface WebhookHandlerOptions {
  secret: WebhookSecret;
  /**
   * Stores the event's transactions durably, and its `completeThrough` if you use it. The service sends the event again if
   * `store` rejects or takes more than 15 seconds.
   */
  store: (event: TransactionsChanged) => Promise<unknown> | unknown;
  /** Called with the reason for every response that is not 2xx. Default `console.error`. */
  onError?: ((error: unknown) => void) | undefined;
  clock?: Pick<Clock, 'now'> | undefined;
}

/** How old or how far in the future a webhook's timestamp may be. */
const TOLERANCE_S = 5 * 60;
/** At least 24 bytes, as the standard requires: with an empty or short key, anyone could forge messages. */
const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

/** The service sends at most 256 KiB, or one larger transaction. */
const BODY_BYTES_MAX = 1024 * 1024;

const STATUS = { bad_header: 400, bad_timestamp: 401, bad_signature: 401, bad_body: 400, too_large: 413 };

/**
 * Returns the event of a webhook, or rejects with a `WebhookError` if the webhook is not authentic, too old, or not an event of
 * this API. A malformed secret is a `TypeError`.
 */
export async function verifyWebhook(input: WebhookInput): Promise<TransactionsChanged> {
  const bytes = toBytes(input.body);
  await verifySignature({ ...input, body: bytes });
  return parseEvent(bytes);
}

/** Rejects with a `WebhookError` unless the webhook has a valid signature and a current timestamp. */
async function verifySignature({ headers, body, secret, clock = systemClock }: WebhookInput): Promise<void> {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const keys = await Promise.all(secrets.map(importKey));
  if (keys.length === 0) throw new TypeError('secret is empty; pass the secret of your webhook, whsec_…');
  const id = getHeader(headers, 'webhook-id');
  const timestamp = getHeader(headers, 'webhook-timestamp');
  const signatures = getHeader(headers, 'webhook-signature').split(' ');
  if (!/^\d{1,12}$/.test(timestamp))
    throw new WebhookError('bad_header', 'The header webhook-timestamp is not a number of seconds.');
  if (Math.abs(Math.floor(clock.now() / 1_000) - Number(timestamp)) > TOLERANCE_S)
    throw new WebhookError(
      'bad_timestamp',
      'The header webhook-timestamp differs from the current time by more than 5 minutes. Check the clock of this machine.',
    );
  const signed = concatBytes([new TextEncoder().encode(`${id}.${timestamp}.`), toBytes(body)]);
  const expected = await Promise.all(keys.map((key) => sign(key, signed)));
  // One hash per secret, even if a sender lists hundreds of signatures.
  if (!signatures.some((signature) => expected.some((one) => isEqual(one, signature))))
    throw new WebhookError(
      'bad_signature',
      'No signature matches. Check the secret, and that the body is verified exactly as it arrived.',
    );
}

/**
 * Returns the response to a webhook: 204 after `store` has resolved, 503 if it rejects, and 4xx without calling `store` if the
 * request is not an authentic webhook.
 */
export async function handleWebhook(
  request: Request,
  // biome-ignore lint/suspicious/noConsole: a failing store must not go unnoticed.
  { secret, store, onError = console.error, clock }: WebhookHandlerOptions,
): Promise<Response> {
  if (request.method !== 'POST') return answer(405, { Allow: 'POST' });
  let event: TransactionsChanged;
  try {
    const { headers } = request;
    event = await verifyWebhook({ headers, body: await readBody(request), secret, clock });
  } catch (error) {
    // A malformed secret, or a connection that was cut off.
    if (!(error instanceof WebhookError)) throw error;
    onError(error);
    return answer(STATUS[error.code]);
  }
  try {
    await store(event);
  } catch (error) {
    onError(error);
    return answer(503);
  }
  return answer(204);
}

function answer(status: number, headers: Record<string, string> = {}): Response {
  return new Response(null, { status, headers });
}

/** Stops at the limit, because anyone can send a request here. */
async function readBody(request: Request): Promise<ArrayBuffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = request.body?.getReader();
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    chunks.push(read.value);
    length += read.value.length;
    if (length > BODY_BYTES_MAX) {
      await reader?.cancel();
      throw new WebhookError('too_large', `The body has more than ${BODY_BYTES_MAX} bytes.`);
    }
  }
  return concatBytes(chunks);
}

function parseEvent(body: Uint8Array): TransactionsChanged {
  let event: Partial<TransactionsChanged> | null = null;
  try {
    event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    // Not JSON; rejected below.
  }
  if (event?.type !== 'transactions.changed' || !Array.isArray(event.data?.transactions))
    throw new WebhookError(
      'bad_body',
      'The signature is valid, but the body is not a transactions.changed event. Update @offerbook/client.',
    );
  return event as TransactionsChanged;
}

/** Never includes the secret in an error. */
function importKey(secret: string): Promise<CryptoKey> {
  const [, base64] = SECRET.exec(secret) ?? [];
  if (base64 === undefined)
    throw new TypeError(
      'the secret of a webhook starts with whsec_, followed by at least 24 bytes in Base64',
    );
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
}

async function sign(key: CryptoKey, text: ArrayBuffer): Promise<string> {
  const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, text));
  return `v1,${btoa(String.fromCharCode(...signature))}`;
}

/** Takes the same time wherever the strings differ. Compares Base64, because different Base64 can decode to the same bytes. */
function isEqual(expected: string, given: string): boolean {
  let difference = expected.length ^ given.length;
  for (let i = 0; i < expected.length; i++) difference |= expected.charCodeAt(i) ^ given.charCodeAt(i);
  return difference === 0;
}

function getHeader(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (value === null || value === undefined || value === '')
    throw new WebhookError('bad_header', `The header ${name} is missing.`);
  return String(value);
}

function isHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

function toBytes(body: WebhookInput['body']): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  return body instanceof Uint8Array ? body : new Uint8Array(body);
}

function concatBytes(parts: readonly Uint8Array[]): ArrayBuffer {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all.buffer;
}
