import { expect, test } from 'bun:test';
import { LAST_ID, newUuid } from '@offerbook/wire/uuid.ts';
import { NO_WATERMARK_MS, type Webhook } from '../../src/domain/webhook.ts';
import { pageMessage, testMessage } from '../../src/webhooks/message.ts';

const NOW_MS = Date.UTC(2026, 10, 18, 12);
const WEBHOOK = {
  ...{ id: newUuid(), revision: 1, positionMs: NOW_MS - 5_000, positionId: LAST_ID },
} as Webhook;
const PAGE = {
  data: new Uint8Array(Buffer.from('{"id":1},{"id":2}')),
  position: { stampMs: NOW_MS - 1_000, id: LAST_ID },
  isLast: true,
};

test('a body contains the page and the positions of the endpoint before and after it', () => {
  const bodyOf = (webhook: Webhook, page = PAGE) =>
    JSON.parse(Buffer.from(pageMessage(webhook, page, NOW_MS).body).toString());
  expect(bodyOf(WEBHOOK)).toEqual({
    ...{ type: 'transactions.changed', timestamp: '2026-11-18T12:00:00' },
    data: {
      transactions: [{ id: 1 }, { id: 2 }],
      ...{ after: '2026-11-18T11:59:55', completeThrough: '2026-11-18T11:59:59' },
    },
  });
  // Both positions are inside a stamp: the rest of its transactions is still to come.
  const inside = { ...PAGE, position: { ...PAGE.position, id: newUuid() } };
  expect(bodyOf({ ...WEBHOOK, positionId: newUuid() }, inside).data).toMatchObject({
    ...{ after: '2026-11-18T11:59:54.999', completeThrough: '2026-11-18T11:59:58.999' },
  });
  expect(bodyOf({ ...WEBHOOK, positionMs: NO_WATERMARK_MS }).data.after).toBeNull();
});

test('the id depends on the contents, the endpoint and its revision, but not on the time', () => {
  const id = (webhook: Partial<Webhook> = {}, page: Partial<typeof PAGE> = {}, nowMs = NOW_MS) =>
    pageMessage({ ...WEBHOOK, ...webhook }, { ...PAGE, ...page }, nowMs).id;
  expect(id()).toMatch(/^msg_[0-9a-f]{32}$/);
  expect(id({ failures: 3 }, {}, NOW_MS + 60_000)).toBe(id());
  const others = [
    id({ id: newUuid() }),
    id({ revision: 2 }),
    id({ positionMs: NOW_MS - 9_000 }),
    id({}, { data: new Uint8Array(Buffer.from('{"id":1},{"id":3}')) }),
    id({}, { position: { ...PAGE.position, stampMs: NOW_MS } }),
    testMessage(WEBHOOK, NOW_MS).id,
    testMessage(WEBHOOK, NOW_MS + 1).id,
  ];
  expect(new Set([id(), ...others]).size).toBe(others.length + 1);
});
