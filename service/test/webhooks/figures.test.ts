import { expect, test } from 'bun:test';
import { HOUR_MS } from '@offerbook/wire/time.ts';
import { type WebhookStatus, webhookFigures } from '../../src/domain/webhook.ts';

const NOW_MS = Date.UTC(2026, 10, 18);

/** The fields that the figures depend on. */
function webhook(with_: Partial<WebhookStatus>): WebhookStatus {
  const fine = { pausedAtMs: null, pausedBy: null, failingSinceMs: null, behindSinceMs: null };
  return { ...fine, ...with_ } as WebhookStatus;
}

const FAILING = webhook({ failingSinceMs: NOW_MS - 25 * HOUR_MS, behindSinceMs: NOW_MS - 26 * HOUR_MS });

test('the figures count webhooks by state, and their times ignore those that the operator has paused', () => {
  const all = [
    webhook({}),
    webhook({ behindSinceMs: NOW_MS - 1_000 }),
    FAILING,
    { ...FAILING, failingSinceMs: 0, behindSinceMs: 0, pausedAtMs: 1, pausedBy: 'operator' as const },
  ];
  const times = { failingMs: 25 * HOUR_MS, behindMs: 26 * HOUR_MS };
  const counts = { 'up to date': 1, behind: 1, failing: 1, paused: 1 };
  expect(webhookFigures(all, NOW_MS)).toEqual({ counts, ...times });
  // After 410, the partner has to repair the endpoint or the operator has to delete it.
  const gone = { ...FAILING, pausedAtMs: NOW_MS, pausedBy: 'endpoint' as const };
  expect(webhookFigures([gone], NOW_MS)).toEqual({
    counts: { 'up to date': 0, behind: 0, failing: 0, paused: 1 },
    ...times,
  });
  expect(webhookFigures([], NOW_MS)).toBeUndefined();
});
