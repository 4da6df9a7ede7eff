// The body of a webhook, and its id.

import { createHash } from 'node:crypto';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { ChangePage } from '../domain/transaction.ts';
import { completeThrough, type Webhook } from '../domain/webhook.ts';

export function pageMessage(webhook: Webhook, { data, position }: ChangePage, nowMs: number) {
  const throughMs = completeThrough({ positionMs: position.stampMs, positionId: position.id });
  const end = endOf(completeThrough(webhook), throughMs);
  // Receivers may ignore ids that they have seen. So the id depends on the contents, but not on the time of the attempt. A replay
  // must be received again although the contents are the same; it increases the revision.
  const hash = createHash('sha256').update(`${webhook.id} ${webhook.revision} `).update(data).update(end);
  return { id: idOf(hash.digest('hex')), body: bodyOf(data, end, nowMs) };
}

/** A message without transactions, which a receiver accepts without storing anything. */
export function testMessage(webhook: Webhook, nowMs: number) {
  const hash = createHash('sha256').update(`${webhook.id} test ${nowMs}`);
  const end = endOf(completeThrough(webhook), null);
  return { id: idOf(hash.digest('hex')), body: bodyOf(new Uint8Array(), end, nowMs) };
}

function idOf(digest: string): string {
  return `msg_${digest.slice(0, 32)}`;
}

function endOf(afterMs: number | null, throughMs: number | null): string {
  const print = (ms: number | null) => JSON.stringify(ms === null ? null : printTimestamp(ms));
  return `],"after":${print(afterMs)},"completeThrough":${print(throughMs)}}}`;
}

function bodyOf(documents: Uint8Array, end: string, nowMs: number): Uint8Array {
  const start = `{"type":"transactions.changed","timestamp":"${printTimestamp(nowMs)}","data":{"transactions":[`;
  return Buffer.concat([Buffer.from(start), documents, Buffer.from(end)]);
}
