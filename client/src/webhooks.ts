// Entry point @offerbook/client/webhooks: receives webhooks on servers with the web's Request and Response, such as Bun, Deno, workers,
// Hono and Next.js.

import type { Clock } from './clock.ts';
import { WebhookError } from './errors.ts';
import { concatBytes, verifyWebhook, type WebhookSecret } from './verify-webhook.ts';
import type { TransactionsChanged } from './wire.ts';

export { WebhookError } from './errors.ts';
export {
  verifyWebhook,
  type WebhookHeaders,
  type WebhookInput,
  type WebhookSecret,
} from './verify-webhook.ts';
export type { Transaction, TransactionChanges, TransactionsChanged } from './wire.ts';

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

/** The service sends at most 256 KiB, or one larger transaction. */
const BODY_BYTES_MAX = 1024 * 1024;

const STATUS = { bad_header: 400, bad_timestamp: 401, bad_signature: 401, bad_body: 400, too_large: 413 };

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
