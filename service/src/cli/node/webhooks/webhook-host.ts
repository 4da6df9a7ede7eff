// Starts the thread that sends webhooks when there is a webhook, unless --webhooks is off. The thread runs until the node stops. If
// it fails, the next call starts it again.

import { withTimeout } from '../../../domain/promises.ts';
import type { Stores } from '../../../domain/stores.ts';
import type { SenderReport } from '../../../domain/webhook.ts';
import type { NodeOptions } from '../node-settings.ts';
import { threadClient } from '../threads/thread-client.ts';
import type { WebhookAnswer, WebhookQuestion } from './webhook-thread.ts';

const CALL_INTERVAL_MS = 1_000;
const STOP_MAX_MS = 4_000;
/** A busy machine can take seconds to start the thread. */
const RUN_MAX_MS = 30_000;

export function openWebhookHost({ databaseUrl, settings, logger }: NodeOptions, stores: Stores) {
  const setup = { databaseUrl, networks: settings.webhookNetworks, logLevel: settings.logLevel };
  const thread = threadClient<WebhookQuestion, WebhookAnswer>(new URL('./webhook-thread', import.meta.url));
  let revision: number | undefined;
  let report: SenderReport | undefined;
  let timer: Timer | undefined;
  let isCalling = false;

  async function ask(type: WebhookQuestion['type']): Promise<void> {
    const answer = await withTimeout(
      thread.call({ type, setup }),
      type === 'stop' ? STOP_MAX_MS : RUN_MAX_MS,
      () => new Error('the thread that sends webhooks does not respond'),
    );
    report = answer.report;
    if (answer.logLines !== '') logger.relay(answer.logLines);
  }

  async function call(): Promise<void> {
    if (isCalling) return;
    isCalling = true;
    try {
      await ask('run');
    } catch (error) {
      logger.error({ err: error }, 'webhooks are not sent');
    } finally {
      isCalling = false;
    }
  }

  return {
    get revision() {
      return revision;
    },
    /** Undefined if the thread has never run. */
    get report() {
      return report;
    },
    async refresh(): Promise<void> {
      if (settings.webhooks === 'off') return;
      const { webhooks: latest } = await stores.revisions();
      if (timer === undefined && (await stores.webhooks.any())) {
        timer = setInterval(() => void call(), CALL_INTERVAL_MS);
        void call();
      }
      revision = latest;
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      if (timer !== undefined) await ask('stop').catch(() => {});
      await thread.close();
    },
  };
}
