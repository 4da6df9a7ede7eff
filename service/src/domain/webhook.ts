// Webhooks: an operator registers a partner's endpoint, and the service posts changed transactions to it, in the order of their
// changes. An endpoint has a position in that order: it has accepted all changes up to it.

import { LAST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import { ALL_STAMPS, type ChangePosition } from './transaction.ts';

/** Before every stamp: an endpoint that starts here receives all transactions. */
export const NO_WATERMARK_MS = ALL_STAMPS.minMs;

export interface Webhook {
  readonly id: Uuid;
  readonly orgId: number;
  readonly orgName: string;
  readonly url: string;
  readonly createdAtMs: number;
  /** Number of the current secret; secrets are derived, see webhooks/signature.ts. */
  readonly generation: number;
  /** Oldest secret that still signs while a rotation overlaps. */
  readonly oldestGeneration: number;
  /** When older secrets stop signing. */
  readonly overlapEndsAtMs: number;
  readonly positionMs: number;
  readonly positionId: Uuid;
  /** When the endpoint was created, resumed after a pause, or a replay began. Earlier changes have been waiting only since then. */
  readonly sendingSinceMs: number;
  /** Increases when an operator changes the endpoint. A delivery that began before does not move the position. */
  readonly revision: number;
  readonly pausedAtMs: number | null;
  readonly pausedBy: PausedBy | null;
  /** First failed attempt since the last success. */
  readonly failingSinceMs: number | null;
  readonly failures: number;
  readonly attemptedAtMs: number | null;
  /** No attempt before this time. */
  readonly retryAtMs: number | null;
  /** The status of the last response, or the reason why there was none. Never contains anything that the endpoint sent. */
  readonly lastResult: string | null;
  readonly deliveredAtMs: number | null;
}

/** `endpoint`: it responded with 410. `restore`: an operator must confirm it after the restore of a backup. */
export type PausedBy = 'operator' | 'endpoint' | 'restore';

export interface WebhookStatus extends Webhook {
  /** Since when the first change that the endpoint has not received has been waiting; null if it has received all changes. */
  readonly behindSinceMs: number | null;
}

export type WebhookState = 'up to date' | 'behind' | 'failing' | 'paused';

export function webhookState(webhook: WebhookStatus): WebhookState {
  if (webhook.pausedAtMs !== null) return 'paused';
  if (webhook.failingSinceMs !== null) return 'failing';
  return webhook.behindSinceMs === null ? 'up to date' : 'behind';
}

export type WebhookFigures = NonNullable<ReturnType<typeof webhookFigures>>;

/**
 * Returns undefined if there are no webhooks. The times ignore endpoints that the operator has paused, but not those that were
 * paused because they responded with 410, or by a restore.
 */
export function webhookFigures(webhooks: readonly WebhookStatus[], nowMs: number) {
  if (webhooks.length === 0) return undefined;
  const counts = { 'up to date': 0, behind: 0, failing: 0, paused: 0 };
  for (const webhook of webhooks) counts[webhookState(webhook)]++;
  const active = webhooks.filter(({ pausedBy }) => pausedBy !== 'operator');
  const longest = (times: readonly (number | null)[]) =>
    Math.max(0, ...times.flatMap((ms) => (ms === null ? [] : nowMs - ms)));
  return {
    counts,
    /** How long the endpoint with the longest failure has been failing; 0 if none is failing. */
    failingMs: longest(active.map(({ failingSinceMs }) => failingSinceMs)),
    /** Longest time that a change has been waiting for an endpoint; 0 if none is waiting. */
    behindMs: longest(active.map(({ behindSinceMs }) => behindSinceMs)),
  };
}

/** The webhooks that a node has sent since it started. */
export interface SenderReport {
  readonly isSending: boolean;
  readonly delivered: number;
  readonly failed: number;
}

/** Returns the stamp through which an endpoint has accepted all changes; null if it has accepted none. */
export function completeThrough({
  positionMs,
  positionId,
}: Pick<Webhook, 'positionMs' | 'positionId'>): number | null {
  if (positionMs === NO_WATERMARK_MS) return null;
  return positionId === LAST_ID ? positionMs : positionMs - 1;
}

export function positionOf({ positionMs, positionId }: Webhook): ChangePosition {
  return { stampMs: positionMs, id: positionId };
}

/** The result of an attempt. It is stored only if the endpoint still has this revision, and no later position. */
export interface WebhookUpdate extends Webhook {
  /** True if the endpoint responded with 410. */
  readonly pauses: boolean;
}

export interface WebhookStore {
  /** The endpoint receives the changes after `sinceMs`. */
  create(orgId: number, url: string, sinceMs: number): Promise<Webhook>;
  /** All endpoints, ordered by organisation. */
  list(): Promise<WebhookStatus[]>;
  find(id: Uuid): Promise<Webhook | undefined>;
  /** The following return undefined if there is no such endpoint. */
  pause(id: Uuid): Promise<Webhook | undefined>;
  /** Also ends the wait for the next attempt. */
  resume(id: Uuid): Promise<Webhook | undefined>;
  /**
   * Adds a secret. Older secrets continue to sign until `overlapEndsAtMs`; if the overlap of an earlier rotation ends later, until
   * then. If `overlapEndsAtMs` is not in the future, older secrets stop signing at once.
   */
  rotate(id: Uuid, overlapEndsAtMs: number): Promise<Webhook | undefined>;
  /** Moves the position back to the end of this stamp, never forward. */
  replay(id: Uuid, sinceMs: number): Promise<Webhook | undefined>;
  delete(id: Uuid): Promise<Webhook | undefined>;
  /** Endpoints with undelivered changes, except paused ones. */
  behind(): Promise<Webhook[]>;
  save(updates: readonly WebhookUpdate[]): Promise<void>;
  any(): Promise<boolean>;
}
