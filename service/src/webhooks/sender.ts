// Sends webhooks. For each endpoint, the sender reads the changes after the endpoint's position in their order, posts them page by
// page, and stores the position of each page that the endpoint has accepted. If anything fails, the position stays, so no change is
// lost. There is at most one request in progress per endpoint.

import { HOUR_MS } from '@offerbook/wire/time.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Clock } from '../domain/clock.ts';
import { Lease, type LeaseTimings } from '../domain/lease.ts';
import type { Logger } from '../domain/logger.ts';
import { oneAtATime } from '../domain/promises.ts';
import { isStorageError } from '../domain/storage-error.ts';
import type { Stores } from '../domain/stores.ts';
import type { ChangePage } from '../domain/transaction.ts';
import { positionOf, type SenderReport, type Webhook, type WebhookUpdate } from '../domain/webhook.ts';
import { pageMessage } from './message.ts';
import { ATTEMPT_MAX_MS, type Outcome, type PostOptions, post } from './post.ts';
import { retryDelayMs } from './retry-schedule.ts';
import { SendSlots } from './send-slots.ts';
import { signatureHeaders } from './signature.ts';

const PAGE_ROWS_MAX = 100;
const BODY_BYTES_MAX = 256 * 1024;
/** Space for everything in a body except the transactions. */
const ENVELOPE_BYTES_MAX = 512;
/** How often the sender checks for retries that are due. A change triggers a poll at once. */
const POLL_INTERVAL_MS = 1_000;
/** Results are saved in batches, because a commit and the poll after it cost more than a request. */
const SAVE_DELAY_MS = 50;

/** A request ends at most this long after its timeout. */
const MARGIN_MS = 1_000;
const LOG_EVERY_MS = HOUR_MS;

interface LoggedFailure {
  readonly atMs: number;
  /** Number of failures since then that were not logged; 0 if the current one was. */
  readonly suppressed: number;
}

export interface SenderOptions {
  readonly stores: Stores;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly post: PostOptions;
  readonly leaseTimings?: Partial<LeaseTimings>;
  /** The lease's clock. */
  readonly monotonicMs?: () => number;
}

export class WebhookSender {
  readonly #options: SenderOptions;
  readonly #slots = new SendSlots();
  readonly #lease: Lease;
  readonly #running = new Map<Uuid, Promise<void>>();
  /** The last result of each endpoint, until it is stored. */
  readonly #unsaved = new Map<Uuid, WebhookUpdate>();
  /** The endpoints with undelivered changes at the last poll, with their revisions. */
  #behind = new Map<Uuid, number>();
  readonly #logged = new Map<Uuid, LoggedFailure>();
  #databaseKey: string | undefined;
  #stopWatching: (() => void) | undefined;
  #timer: Timer | undefined;
  #saveTimer: Timer | undefined;
  #isStopping = false;
  #delivered = 0;
  #failed = 0;

  /** Finds endpoints with undelivered changes and starts sending. */
  readonly poll = oneAtATime(
    () => this.#poll(),
    (error) => this.#logFailure(error, 'webhooks are waiting for the database'),
  );

  readonly #save = oneAtATime(
    () => this.#saveAll(),
    (error) => this.#logFailure(error, 'webhook results could not be stored; retrying'),
  );

  constructor(options: SenderOptions) {
    this.#options = options;
    const { stores, logger, leaseTimings, monotonicMs } = options;
    this.#lease = new Lease({
      ...{ store: stores.senderLease, name: 'webhooks' },
      logger,
      onTaken: () => {
        logger.info('this node sends webhooks');
        this.poll();
      },
      timings: leaseTimings,
      monotonicMs,
    });
  }

  start(): void {
    this.#lease.start();
    this.#stopWatching = this.#options.stores.watch(this.poll);
    this.#timer = setInterval(this.poll, POLL_INTERVAL_MS);
  }

  get report(): SenderReport {
    return { isSending: this.#lease.isHeld, delivered: this.#delivered, failed: this.#failed };
  }

  /** Waits for requests in progress, up to `waitMs`, and stores their results. */
  async stop(waitMs: number): Promise<void> {
    this.#isStopping = true;
    this.#stopWatching?.();
    clearInterval(this.#timer);
    await Promise.race([Promise.allSettled(this.#running.values()), Bun.sleep(waitMs)]);
    clearTimeout(this.#saveTimer);
    await this.#saveAll().catch(() => {});
    await this.#lease.stop(this.#running.size === 0);
  }

  async #poll(): Promise<void> {
    if (this.#isStopping || !this.#lease.isHeld) return;
    if (this.#unsaved.size > 0 && this.#saveTimer === undefined) this.#save();
    const { stores, clock } = this.#options;
    this.#databaseKey ??= await stores.clickKey();
    // The query may return the position before a result that is being stored.
    const busy = new Set([...this.#running.keys(), ...this.#unsaved.keys()]);
    const behind = await stores.webhooks.behind();
    this.#behind = new Map(behind.map(({ id, revision }) => [id, revision]));
    const nowMs = clock();
    for (const webhook of behind) {
      const { id } = webhook;
      if (busy.has(id) || !isDue(webhook, nowMs)) continue;
      const delivery = this.#deliver(webhook, this.#databaseKey)
        .catch((error) => this.#logFailure(error, 'a webhook is waiting for the database'))
        .finally(() => this.#running.delete(id));
      this.#running.set(id, delivery);
    }
  }

  /** Posts pages until the endpoint has received all changes or an attempt fails. */
  async #deliver(given: Webhook, databaseKey: string): Promise<void> {
    let webhook = given;
    while (true) {
      const sent = await this.#slots.run(webhook.failures > 0, () => this.#sendPage(webhook, databaseKey));
      if (sent === undefined) return;
      const { page, outcome } = sent;
      if (outcome !== undefined) this.#count(webhook, outcome);
      if (outcome?.isDelivered === false) return this.#keep(this.#failure(webhook, outcome));
      const update = this.#success(webhook, page, outcome);
      this.#keep(update);
      if (page.isLast) return;
      // The next page is sent while this position is being stored.
      this.#save();
      webhook = { ...webhook, ...update };
    }
  }

  /**
   * Reads and posts the next page. Returns undefined if the endpoint must not get a request now. `outcome` is undefined if there
   * was nothing to send.
   */
  async #sendPage(
    webhook: Webhook,
    databaseKey: string,
  ): Promise<{ page: ChangePage; outcome: Outcome | undefined } | undefined> {
    const page = await this.#options.stores.transactions.changes({
      ...{ orgId: webhook.orgId, after: positionOf(webhook) },
      ...{ limit: PAGE_ROWS_MAX, bytesMax: BODY_BYTES_MAX - ENVELOPE_BYTES_MAX },
    });
    if (page.data.length === 0) return { page, outcome: undefined };
    const nowMs = this.#options.clock();
    const { id: messageId, body } = pageMessage(webhook, page, nowMs);
    const headers = signatureHeaders(databaseKey, webhook, { messageId, atMs: nowMs, body });
    const { url, failures } = webhook;
    // A request starts only if it is certain to end before another node can take over. Checked last, so that a process that was
    // frozen before this point sends nothing. If it is frozen between here and the write to the socket, the page can arrive late.
    const takesMs = (this.#options.post.timeoutMs ?? ATTEMPT_MAX_MS) + MARGIN_MS;
    if (
      this.#isStopping ||
      !this.#lease.isSafeFor(takesMs) ||
      this.#behind.get(webhook.id) !== webhook.revision
    )
      return undefined;
    return { page, outcome: await post({ url, headers, body, failures, nowMs }, this.#options.post) };
  }

  /** The server reports an unreachable database itself. */
  #logFailure(error: unknown, message: string): void {
    const { logger } = this.#options;
    if (isStorageError(error)) logger.debug({ err: error }, message);
    else logger.error({ err: error }, message);
  }

  /** Logs the first failure in a row and the recovery, for an endpoint that fails again and again only once in LOG_EVERY_MS. */
  #count({ id, orgName, failures }: Webhook, { isDelivered, result }: Outcome): void {
    const { logger, clock } = this.#options;
    const { atMs = 0, suppressed = 0 } = this.#logged.get(id) ?? {};
    if (isDelivered) {
      this.#delivered++;
      if (failures > 0 && suppressed === 0)
        logger.info({ webhook: id, org: orgName }, 'a webhook has recovered');
      return;
    }
    this.#failed++;
    if (failures > 0) return;
    if (Math.abs(clock() - atMs) < LOG_EVERY_MS) {
      this.#logged.set(id, { atMs, suppressed: suppressed + 1 });
      return;
    }
    this.#logged.set(id, { atMs: clock(), suppressed: 0 });
    const fields = { webhook: id, org: orgName, result, ...(suppressed > 0 && { suppressed }) };
    logger.warn(fields, 'a webhook failed; it will be retried');
  }

  #success(webhook: Webhook, { position }: ChangePage, outcome: Outcome | undefined): WebhookUpdate {
    const nowMs = this.#options.clock();
    const at = { positionMs: position.stampMs, positionId: position.id, pauses: false };
    // Without changes, the position moves without a request, so nothing is known about the endpoint.
    if (outcome === undefined) return { ...webhook, ...at };
    return {
      ...webhook,
      ...at,
      ...{ failures: 0, failingSinceMs: null, retryAtMs: null },
      ...{ attemptedAtMs: nowMs, deliveredAtMs: nowMs, lastResult: outcome.result },
    };
  }

  #failure(webhook: Webhook, { result, status, retryAfterMs }: Outcome): WebhookUpdate {
    const nowMs = this.#options.clock();
    const failures = webhook.failures + 1;
    return {
      ...webhook,
      failures,
      failingSinceMs: webhook.failingSinceMs ?? nowMs,
      attemptedAtMs: nowMs,
      retryAtMs: nowMs + retryDelayMs(failures, retryAfterMs),
      lastResult: result,
      pauses: status === 410,
    };
  }

  #keep(update: WebhookUpdate): void {
    this.#unsaved.set(update.id, update);
    this.#saveTimer ??= setTimeout(() => {
      this.#saveTimer = undefined;
      this.#save();
    }, SAVE_DELAY_MS);
  }

  async #saveAll(): Promise<void> {
    const updates = [...this.#unsaved];
    if (updates.length === 0) return;
    await this.#options.stores.webhooks.save(updates.map(([, update]) => update));
    for (const [id, update] of updates) if (this.#unsaved.get(id) === update) this.#unsaved.delete(id);
    // The endpoints may have further changes.
    this.poll();
  }
}

/** If this machine's clock was set back, the time of the next attempt may be far away, so it is ignored. */
function isDue({ attemptedAtMs, retryAtMs }: Webhook, nowMs: number): boolean {
  return retryAtMs === null || nowMs >= retryAtMs || nowMs < (attemptedAtMs ?? 0);
}
