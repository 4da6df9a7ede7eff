// Sends webhooks. For each endpoint, the sender reads the changes after the endpoint's position in their order, posts them page by
// page, and stores the position of each page that the endpoint has accepted. If anything fails, the position stays, so no change is
// lost. There is at most one request in progress per endpoint.

import { HOUR_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Clock } from '../domain/clock.ts';
import { type LeaseTimings, openLease } from '../domain/lease.ts';
import type { Logger } from '../domain/logger.ts';
import { oneAtATime } from '../domain/promises.ts';
import { isStorageError } from '../domain/storage-error.ts';
import type { Stores } from '../domain/stores.ts';
import type { ChangePage } from '../domain/transaction.ts';
import { positionOf, type SenderReport, type Webhook, type WebhookUpdate } from '../domain/webhook.ts';
import { pageMessage } from './message.ts';
import { ATTEMPT_MAX_MS, type Outcome, type PostOptions, post } from './post.ts';
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

/** Delays after the first failures in a row. Each further failure has the last delay. */
const RETRY_DELAYS_MS = [5_000, 30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS];
/** Spreads the retries of endpoints that failed at the same time. */
const RETRY_JITTER = 0.2;
const RETRY_AFTER_MAX_MS = 24 * HOUR_MS;

export interface SenderOptions {
  readonly stores: Stores;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly post: PostOptions;
  readonly leaseTimings?: Partial<LeaseTimings>;
  /** The lease's clock. */
  readonly monotonicMs?: () => number;
}

export type WebhookSender = ReturnType<typeof startSender>;

export function startSender({
  stores,
  clock,
  logger,
  post: posting,
  leaseTimings,
  monotonicMs,
}: SenderOptions) {
  const slots = new SendSlots();
  const running = new Map<Uuid, Promise<void>>();
  /** The last result of each endpoint, until it is stored. */
  const unsaved = new Map<Uuid, WebhookUpdate>();
  /** The endpoints with undelivered changes at the last poll, with their revisions. */
  let behind = new Map<Uuid, number>();
  /** When a failure of each endpoint was last logged, and the number of failures since then that were not. */
  const logged = new Map<Uuid, { readonly atMs: number; readonly suppressed: number }>();
  let databaseKey: string | undefined;
  let saveTimer: Timer | undefined;
  let isStopping = false;
  let delivered = 0;
  let failed = 0;

  /** Finds endpoints with undelivered changes and starts sending. */
  const poll = oneAtATime(
    async () => {
      if (isStopping || !lease.isHeld) return;
      if (unsaved.size > 0 && saveTimer === undefined) save();
      databaseKey ??= await stores.clickKey();
      // The query may return the position before a result that is being stored.
      const busy = new Set([...running.keys(), ...unsaved.keys()]);
      const found = await stores.webhooks.behind();
      behind = new Map(found.map(({ id, revision }) => [id, revision]));
      const nowMs = clock();
      for (const webhook of found) {
        const { id } = webhook;
        if (busy.has(id) || !isDue(webhook, nowMs)) continue;
        const delivery = deliver(webhook, databaseKey)
          .catch((error) => logFailure(error, 'a webhook is waiting for the database'))
          .finally(() => running.delete(id));
        running.set(id, delivery);
      }
    },
    (error) => logFailure(error, 'webhooks are waiting for the database'),
  );

  const save = oneAtATime(saveAll, (error) =>
    logFailure(error, 'webhook results could not be stored; retrying'),
  );

  const lease = openLease({
    ...{ store: stores.senderLease, name: 'webhooks', logger, timings: leaseTimings, monotonicMs },
    onTaken: () => {
      logger.info('this node sends webhooks');
      poll();
    },
  });

  /** Posts pages until the endpoint has received all changes or an attempt fails. */
  async function deliver(given: Webhook, key: string): Promise<void> {
    let webhook = given;
    while (true) {
      const sent = await slots.run(webhook.failures > 0, () => sendPage(webhook, key));
      if (sent === undefined) return;
      const { page, outcome } = sent;
      if (outcome !== undefined) count(webhook, outcome);
      if (outcome?.isDelivered === false) return keep(afterFailure(webhook, outcome, clock()));
      const update = afterSuccess(webhook, page, outcome, clock());
      keep(update);
      if (page.isLast) return;
      // The next page is sent while this position is being stored.
      save();
      webhook = { ...webhook, ...update };
    }
  }

  /**
   * Reads and posts the next page. Returns undefined if the endpoint must not get a request now. `outcome` is undefined if there
   * was nothing to send.
   */
  async function sendPage(
    webhook: Webhook,
    key: string,
  ): Promise<{ page: ChangePage; outcome: Outcome | undefined } | undefined> {
    const { id, orgId, revision, url, failures } = webhook;
    const page = await stores.transactions.changes({
      ...{ orgId, after: positionOf(webhook) },
      ...{ limit: PAGE_ROWS_MAX, bytesMax: BODY_BYTES_MAX - ENVELOPE_BYTES_MAX },
    });
    if (page.data.length === 0) return { page, outcome: undefined };
    const nowMs = clock();
    const { id: messageId, body } = pageMessage(webhook, page, nowMs);
    const headers = signatureHeaders(key, webhook, { messageId, atMs: nowMs, body });
    // A request starts only if it is certain to end before another node can take over. Checked last, so that a process that was
    // frozen before this point sends nothing. If it is frozen between here and the write to the socket, the page can arrive late.
    const takesMs = (posting.timeoutMs ?? ATTEMPT_MAX_MS) + MARGIN_MS;
    if (isStopping || !lease.isSafeFor(takesMs) || behind.get(id) !== revision) return undefined;
    return { page, outcome: await post({ url, headers, body, failures, nowMs }, posting) };
  }

  /** The server reports an unreachable database itself. */
  function logFailure(error: unknown, message: string): void {
    if (isStorageError(error)) logger.debug({ err: error }, message);
    else logger.error({ err: error }, message);
  }

  /** Logs the first failure in a row and the recovery, for an endpoint that fails again and again only once in LOG_EVERY_MS. */
  function count({ id, orgName, failures }: Webhook, { isDelivered, result }: Outcome): void {
    const { atMs = 0, suppressed = 0 } = logged.get(id) ?? {};
    if (isDelivered) {
      delivered++;
      if (failures > 0 && suppressed === 0)
        logger.info({ webhook: id, org: orgName }, 'a webhook has recovered');
      return;
    }
    failed++;
    if (failures > 0) return;
    if (Math.abs(clock() - atMs) < LOG_EVERY_MS) {
      logged.set(id, { atMs, suppressed: suppressed + 1 });
      return;
    }
    logged.set(id, { atMs: clock(), suppressed: 0 });
    const fields = { webhook: id, org: orgName, result, ...(suppressed > 0 && { suppressed }) };
    logger.warn(fields, 'a webhook failed; it will be retried');
  }

  function keep(update: WebhookUpdate): void {
    unsaved.set(update.id, update);
    saveTimer ??= setTimeout(() => {
      saveTimer = undefined;
      save();
    }, SAVE_DELAY_MS);
  }

  async function saveAll(): Promise<void> {
    const updates = [...unsaved];
    if (updates.length === 0) return;
    await stores.webhooks.save(updates.map(([, update]) => update));
    for (const [id, update] of updates) if (unsaved.get(id) === update) unsaved.delete(id);
    // The endpoints may have further changes.
    poll();
  }

  lease.start();
  const stopWatching = stores.watch(poll);
  const timer = setInterval(poll, POLL_INTERVAL_MS);

  return {
    poll,

    get report(): SenderReport {
      return { isSending: lease.isHeld, delivered, failed };
    },

    /** Waits for requests in progress, up to `waitMs`, and stores their results. */
    async stop(waitMs: number): Promise<void> {
      isStopping = true;
      stopWatching();
      clearInterval(timer);
      await Promise.race([Promise.allSettled(running.values()), Bun.sleep(waitMs)]);
      clearTimeout(saveTimer);
      await saveAll().catch(() => {});
      await lease.stop(running.size === 0);
    },
  };
}

/** If this machine's clock was set back, the time of the next attempt may be far away, so it is ignored. */
function isDue({ attemptedAtMs, retryAtMs }: Webhook, nowMs: number): boolean {
  return retryAtMs === null || nowMs >= retryAtMs || nowMs < (attemptedAtMs ?? 0);
}

function afterSuccess(
  webhook: Webhook,
  { position }: ChangePage,
  outcome: Outcome | undefined,
  nowMs: number,
): WebhookUpdate {
  const moved = { ...webhook, positionMs: position.stampMs, positionId: position.id, pauses: false };
  // Without changes, the position moves without a request, so nothing is known about the endpoint.
  if (outcome === undefined) return moved;
  return {
    ...moved,
    ...{ failures: 0, failingSinceMs: null, retryAtMs: null },
    ...{ attemptedAtMs: nowMs, deliveredAtMs: nowMs, lastResult: outcome.result },
  };
}

function afterFailure(
  webhook: Webhook,
  { result, status, retryAfterMs }: Outcome,
  nowMs: number,
): WebhookUpdate {
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

/** Returns the delay after this number of consecutive failures. There is no last attempt. */
export function retryDelayMs(failures: number, retryAfterMs = 0, random: () => number = Math.random): number {
  const delayMs = RETRY_DELAYS_MS[Math.min(failures, RETRY_DELAYS_MS.length) - 1] ?? 0;
  const spread = Math.round(delayMs * (1 - RETRY_JITTER + 2 * RETRY_JITTER * random()));
  return Math.max(spread, Math.min(retryAfterMs, RETRY_AFTER_MAX_MS));
}
