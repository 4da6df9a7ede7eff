// Runs the thread that sends webhooks while there are any, unless --webhooks is off. If the thread fails, the next call starts it again.

import type { Logger } from '../../../domain/logger.ts';
import { withTimeout } from '../../../domain/promises.ts';
import type { Stores } from '../../../domain/stores.ts';
import type { SenderReport } from '../../../domain/webhook.ts';
import type { Followed } from '../change-follower.ts';
import type { NodeOptions } from '../node-settings.ts';
import { ThreadClient } from '../threads/thread-client.ts';
import type { WebhookAnswer, WebhookQuestion, WebhookSetup } from './webhook-thread.ts';

const CALL_INTERVAL_MS = 1_000;
const STOP_MAX_MS = 4_000;
/** A busy machine can take seconds to start the thread. */
const RUN_MAX_MS = 30_000;

export class WebhookHost implements Followed {
  readonly #stores: Stores;
  readonly #logger: Logger;
  readonly #setup: WebhookSetup;
  readonly #isOn: boolean;
  readonly #thread = new ThreadClient<WebhookQuestion, WebhookAnswer>(
    new URL('./webhook-thread', import.meta.url),
  );
  #revision: number | undefined;
  #timer: Timer | undefined;
  #isCalling = false;
  #report: SenderReport | undefined;

  constructor({ databaseUrl, settings, logger }: NodeOptions, stores: Stores) {
    this.#stores = stores;
    this.#logger = logger;
    this.#isOn = settings.webhooks === 'on';
    this.#setup = { databaseUrl, networks: settings.webhookNetworks, logLevel: settings.logLevel };
  }

  get revision(): number | undefined {
    return this.#revision;
  }

  /** Undefined if the thread has never run. */
  get report(): SenderReport | undefined {
    return this.#report;
  }

  /** Starts the thread when there is a webhook. It then runs until the node stops; without webhooks, it does nothing. */
  async refresh(): Promise<void> {
    if (!this.#isOn) return;
    const { webhooks: revision } = await this.#stores.revisions();
    if (this.#timer === undefined && (await this.#stores.webhooks.any())) {
      this.#timer = setInterval(() => void this.#call(), CALL_INTERVAL_MS);
      void this.#call();
    }
    this.#revision = revision;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#timer !== undefined) await this.#ask('stop').catch(() => {});
    await this.#thread.close();
  }

  async #call(): Promise<void> {
    if (this.#isCalling) return;
    this.#isCalling = true;
    try {
      await this.#ask('run');
    } catch (error) {
      this.#logger.error({ err: error }, 'webhooks are not sent');
    } finally {
      this.#isCalling = false;
    }
  }

  async #ask(type: WebhookQuestion['type']): Promise<void> {
    const answer = await withTimeout(
      this.#thread.call({ type, setup: this.#setup }),
      type === 'stop' ? STOP_MAX_MS : RUN_MAX_MS,
      () => new Error('the thread that sends webhooks does not respond'),
    );
    this.#report = answer.report;
    if (answer.logLines !== '') this.#logger.relay(answer.logLines);
  }
}
