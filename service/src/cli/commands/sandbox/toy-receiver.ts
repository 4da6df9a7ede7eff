// A partner's server in miniature: it receives the sandbox's webhooks, so that the explorer can show how they arrive. It
// verifies them with the client library, as a partner's server would.

import { handleWebhook, type TransactionsChanged } from '@offerbook/client/webhooks';
import { printTimestamp, type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import { systemClock } from '../../../domain/clock.ts';
import type { Logger } from '../../../domain/logger.ts';
import type { Organisation } from '../../../domain/organisation.ts';
import type { Stores } from '../../../domain/stores.ts';
import type { Webhook } from '../../../domain/webhook.ts';
import { webhookSecret } from '../../../webhooks/signature.ts';

/** Address of the receiver. Webhooks are sent there only if the server's settings list it. */
export const RECEIVER_ADDRESS = '127.0.0.1';
const RECEIVER_PATH = '/toy-receiver';
const DELIVERIES_MAX = 5;
/** As in the explorer, the first deliveries cover the last ten minutes. */
const FIRST_WINDOW_MS = 10 * 60_000;

export interface Delivery {
  /** Increases by one with each delivery. */
  readonly number: number;
  readonly receivedAt: Timestamp;
  readonly transactions: number;
  /** Time between the newest change in the delivery and its arrival. */
  readonly delayMs: number;
}

/** Starts the receiver and registers it as a webhook of the organisation. */
export async function startToyReceiver(stores: Stores, org: Organisation, logger: Logger) {
  const deliveries: Delivery[] = [];

  function store({ data: { transactions } }: TransactionsChanged): void {
    if (transactions.length === 0) return;
    const changedMs = transactions.map(({ updatedAt }) => timestampMs(updatedAt as Timestamp));
    const nowMs = systemClock();
    deliveries.unshift({
      number: (deliveries[0]?.number ?? 0) + 1,
      receivedAt: printTimestamp(nowMs),
      transactions: transactions.length,
      delayMs: Math.max(0, nowMs - Math.max(...changedMs)),
    });
    deliveries.splice(DELIVERIES_MAX);
  }

  const server = Bun.serve({
    hostname: RECEIVER_ADDRESS,
    port: 0,
    development: false,
    routes: {
      [RECEIVER_PATH]: async (request) => {
        // Read for each request, so that operators can try out a rotation.
        const webhook = await stores.webhooks.find(id);
        if (webhook === undefined) return new Response(null, { status: 410 });
        const secret = webhookSecret(await stores.clickKey(), webhook.id, webhook.generation);
        const onError = (error: unknown) =>
          logger.warn({ err: error }, 'the toy receiver rejected a webhook');
        return handleWebhook(request, { secret, store, onError });
      },
    },
  });
  const { id } = await register(stores, org, new URL(RECEIVER_PATH, server.url).href);
  return { deliveries: (): readonly Delivery[] => deliveries, close: () => server.stop(true) };
}

/** Replaces the webhook of an earlier run, which had a different port. */
async function register({ webhooks }: Stores, org: Organisation, url: string): Promise<Webhook> {
  for (const known of await webhooks.list()) {
    const { hostname, pathname } = new URL(known.url);
    if (known.orgId === org.id && hostname === RECEIVER_ADDRESS && pathname === RECEIVER_PATH)
      await webhooks.delete(known.id);
  }
  return webhooks.create(org.id, url, systemClock() - FIRST_WINDOW_MS);
}
