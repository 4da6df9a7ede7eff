// The body of a webhook, and its id.

import { createHash } from 'node:crypto';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { TransactionPage } from '../domain/transaction.ts';
import { NO_WATERMARK_MS, type Webhook } from '../domain/webhook.ts';

export interface Message {
  readonly id: string;
  readonly body: Uint8Array;
}

/** `throughMs` is set on the last page of a walk. */
export function pageMessage(
  webhook: Webhook,
  cursor: Uuid | undefined,
  page: TransactionPage,
  throughMs: number | undefined,
  nowMs: number,
): Message {
  // Receivers may ignore ids that they have seen, so a page with other contents must have another id: the contents follow from
  // the watermark, the cursor and the state that was read. A replay, which increases the revision, must be received again.
  const parts = [webhook.id, webhook.revision, webhook.watermarkMs, cursor ?? '', page.completeThroughMs];
  return { id: idOf(parts), body: bodyOf(webhook, page.data, throughMs, nowMs) };
}

/** A message without transactions, which a receiver accepts without storing anything. */
export function testMessage(webhook: Webhook, nowMs: number): Message {
  return {
    id: idOf([webhook.id, 'test', nowMs]),
    body: bodyOf(webhook, new Uint8Array(), undefined, nowMs),
  };
}

function idOf(parts: readonly (string | number)[]): string {
  return `msg_${createHash('sha256').update(parts.join(' ')).digest('hex').slice(0, 32)}`;
}

function bodyOf(
  { watermarkMs }: Webhook,
  documents: Uint8Array,
  throughMs: number | undefined,
  nowMs: number,
): Uint8Array {
  const after = watermarkMs === NO_WATERMARK_MS ? null : printTimestamp(watermarkMs);
  const completeThrough = throughMs === undefined ? null : printTimestamp(throughMs);
  const start = `{"type":"transactions.changed","timestamp":"${printTimestamp(nowMs)}","data":{"transactions":[`;
  const end = `],"after":${JSON.stringify(after)},"completeThrough":${JSON.stringify(completeThrough)}}}`;
  return Buffer.concat([Buffer.from(start), documents, Buffer.from(end)]);
}
