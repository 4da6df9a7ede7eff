// Sends webhooks. For each endpoint, the sender does what a polling client does (docs/polling.md): it walks through the changes
// after the endpoint's watermark, posts each page, and moves the watermark when the endpoint has accepted the whole walk. If
// anything fails, the watermark stays, so no change is lost. There is at most one request in progress per endpoint.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/logger.ts';
import { oneAtATime } from '../domain/one-at-a-time.ts';
import { isStorageError } from '../domain/storage-error.ts';
import type { Stores } from '../domain/stores.ts';
import type { TransactionPage } from '../domain/transaction.ts';
import type { SenderReport, Webhook, WebhookUpdate } from '../domain/webhook.ts';
import { Lease, type LeaseTimings } from './lease.ts';
import { pageMessage } from './message.ts';
import { type Outcome, type PostOptions, post } from './post.ts';
import { retryDelayMs } from './retry-schedule.ts';
import { SendSlots } from './send-slots.ts';
import { signatureHeaders } from './signature.ts';

const PAGE_ROWS_MAX = 100;
const BODY_BYTES_MAX = 256 * 1024;
/** Space for everything in a body except the transactions. */
const ENVELOPE_BYTES_MAX = 512;
const LATEST_MS = 8.64e15;
/** As for polling clients, a walk is a snapshot for an hour. Later pages show the current state. */
const SNAPSHOT_MS = 60 * 60_000;
/** How often the sender checks for retries that are due. A change triggers a poll at once. */
const POLL_INTERVAL_MS = 1_000;
/** Results are saved in batches, because a commit and the poll after it cost more than a request. */
const SAVE_DELAY_MS = 50;

export interface SenderOptions {
  readonly stores: Stores;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly post: PostOptions;
  readonly leaseTimings?: LeaseTimings;
}

/** A walk that is not complete yet. It is kept in memory; if it is lost, another walk starts at the watermark. */
interface Walk {
  readonly revision: number;
  readonly watermarkMs: number;
  readonly beganMs: number;
  cursor: Uuid | undefined;
  /** Stamp of the first page; undefined before it was read. */
  asOfMs: number | undefined;
  /** The smallest completeThroughMs of the pages so far. */
  throughMs: number;
}

export class WebhookSender {
  readonly #options: SenderOptions;
  readonly #slots = new SendSlots();
  readonly #lease: Lease;
  readonly #walks = new Map<Uuid, Walk>();
  readonly #running = new Map<Uuid, Promise<void>>();
  /** Results that are not stored yet, by endpoint. An endpoint gets no further request until its result is stored. */
  readonly #unsaved = new Map<Uuid, WebhookUpdate>();
  /** The endpoints with undelivered changes at the last poll, with their revisions. */
  #behind = new Map<Uuid, number>();
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
    const { stores, logger, leaseTimings } = options;
    this.#lease = new Lease({
      store: stores.senderLease,
      logger,
      onTaken: () => this.poll(),
      timings: leaseTimings,
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
    const behind = await stores.webhooks.behind();
    this.#behind = new Map(behind.map(({ id, revision }) => [id, revision]));
    for (const id of this.#walks.keys()) if (!this.#behind.has(id)) this.#walks.delete(id);
    const nowMs = clock();
    for (const webhook of behind) {
      const { id } = webhook;
      if (this.#running.has(id) || this.#unsaved.has(id) || !isDue(webhook, nowMs)) continue;
      const delivery = this.#deliver(webhook, this.#databaseKey)
        .catch((error) => this.#logFailure(error, 'a webhook is waiting for the database'))
        .finally(() => this.#running.delete(id));
      this.#running.set(id, delivery);
    }
  }

  /** Posts pages until the walk is complete or an attempt fails. */
  async #deliver(given: Webhook, databaseKey: string): Promise<void> {
    let webhook = given;
    const walk = this.#walkOf(webhook);
    while (true) {
      const page = await this.#slots.run(webhook.failures > 0, () =>
        this.#sendPage(webhook, walk, databaseKey),
      );
      if (page === undefined) return;
      const { outcome, isLast } = page;
      if (outcome !== undefined) this.#count(webhook, outcome);
      if (outcome?.isDelivered === false) return this.#keep(this.#failure(webhook, outcome));
      if (isLast) {
        this.#walks.delete(webhook.id);
        return this.#keep(this.#success(webhook, outcome, walk.throughMs));
      }
      if (webhook.failures > 0) {
        this.#keep(this.#success(webhook, outcome, webhook.watermarkMs));
        webhook = { ...webhook, failures: 0, failingSinceMs: null };
      }
    }
  }

  #walkOf({ id, revision, watermarkMs }: Webhook): Walk {
    const known = this.#walks.get(id);
    if (known?.revision === revision && known.watermarkMs === watermarkMs) return known;
    const beganMs = this.#options.clock();
    const walk: Walk = {
      ...{ revision, watermarkMs, beganMs },
      ...{ cursor: undefined, asOfMs: undefined, throughMs: LATEST_MS },
    };
    this.#walks.set(id, walk);
    return walk;
  }

  /**
   * Reads and posts the next page of a walk. Returns undefined if the endpoint must not get a request now. `outcome` is
   * undefined if there was nothing to send.
   */
  async #sendPage(
    webhook: Webhook,
    walk: Walk,
    databaseKey: string,
  ): Promise<{ outcome: Outcome | undefined; isLast: boolean } | undefined> {
    const { stores, clock } = this.#options;
    const page = await stores.transactions.page({
      orgId: webhook.orgId,
      window: { minMs: walk.watermarkMs + 1, maxMs: LATEST_MS },
      cursor: walk.cursor,
      limit: PAGE_ROWS_MAX,
      bytesMax: BODY_BYTES_MAX - ENVELOPE_BYTES_MAX,
      asOfMs: Math.abs(clock() - walk.beganMs) < SNAPSHOT_MS ? walk.asOfMs : undefined,
    });
    const isLast = page.cursor === undefined;
    const throughMs = Math.min(walk.throughMs, page.completeThroughMs);
    const isEmptyWalk = isLast && walk.cursor === undefined && page.data.length === 0;
    const outcome = isEmptyWalk
      ? undefined
      : await this.#post(webhook, walk, page, isLast ? throughMs : undefined, databaseKey);
    if (outcome === 'not allowed') return undefined;
    if (outcome?.isDelivered !== false) {
      walk.cursor = page.cursor;
      walk.asOfMs ??= page.completeThroughMs;
      walk.throughMs = throughMs;
    }
    return { outcome, isLast };
  }

  async #post(
    webhook: Webhook,
    { cursor }: Walk,
    page: TransactionPage,
    throughMs: number | undefined,
    databaseKey: string,
  ): Promise<Outcome | 'not allowed'> {
    const nowMs = this.#options.clock();
    const { id: messageId, body } = pageMessage(webhook, cursor, page, throughMs, nowMs);
    const headers = signatureHeaders(databaseKey, webhook, { messageId, atMs: nowMs, body });
    const { url, failures } = webhook;
    // Checked last, so that a process that was frozen before this point sends nothing.
    if (this.#isStopping || !this.#lease.mayStart || this.#behind.get(webhook.id) !== webhook.revision)
      return 'not allowed';
    return post({ url, headers, body, failures, nowMs }, this.#options.post);
  }

  /** The server reports an unreachable database itself. */
  #logFailure(error: unknown, message: string): void {
    const { logger } = this.#options;
    if (isStorageError(error)) logger.debug({ err: error }, message);
    else logger.error({ err: error }, message);
  }

  #count({ id, orgName, failures }: Webhook, { isDelivered, result }: Outcome): void {
    if (isDelivered) this.#delivered++;
    else this.#failed++;
    const { logger } = this.#options;
    if (!isDelivered && failures === 0)
      logger.warn({ webhook: id, org: orgName, result }, 'a webhook failed; it will be retried');
    if (isDelivered && failures > 0) logger.info({ webhook: id, org: orgName }, 'a webhook has recovered');
  }

  #success(webhook: Webhook, outcome: Outcome | undefined, toMs: number): WebhookUpdate {
    const nowMs = this.#options.clock();
    // An empty walk moves the watermark without a request, which says nothing about the endpoint.
    if (outcome === undefined) return { ...webhook, toMs, pauses: false };
    return {
      ...webhook,
      toMs,
      ...{ failures: 0, failingSinceMs: null, retryAtMs: null, pauses: false },
      ...{ attemptedAtMs: nowMs, deliveredAtMs: nowMs, lastResult: outcome.result },
    };
  }

  #failure(webhook: Webhook, { result, status, retryAfterMs }: Outcome): WebhookUpdate {
    const nowMs = this.#options.clock();
    const failures = webhook.failures + 1;
    return {
      ...webhook,
      toMs: webhook.watermarkMs,
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
