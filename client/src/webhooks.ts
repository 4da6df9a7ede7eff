// Entry point @offerbook/client/webhooks: for servers that receive transactions by webhook.

export { WebhookError } from './errors.ts';
export { handleWebhook, type WebhookHandlerOptions } from './handle-webhook.ts';
export {
  verifyWebhook,
  type WebhookHeaders,
  type WebhookInput,
  type WebhookSecret,
} from './verify-webhook.ts';
export type { Transaction, TransactionChanges, TransactionsChanged } from './wire.ts';
