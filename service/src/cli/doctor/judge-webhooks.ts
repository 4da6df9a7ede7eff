// Warns about webhooks that have failed for a day, and about those that their endpoints have paused. Pure function.

import { printCountOf } from '@offerbook/wire/count.ts';
import type { Webhook } from '../../domain/webhook.ts';
import { type Check, ok, warning } from './check.ts';

const FAILING_MAX_MS = 24 * 60 * 60_000;

/** Returns no check if there are no webhooks. */
export function judgeWebhooks(webhooks: readonly Webhook[], nowMs: number): Check[] {
  if (webhooks.length === 0) return [];
  const failing = webhooks.filter(
    ({ pausedAtMs, failingSinceMs }) =>
      pausedAtMs === null && failingSinceMs !== null && nowMs - failingSinceMs >= FAILING_MAX_MS,
  );
  const paused = webhooks.filter(({ pausedBy }) => pausedBy !== null && pausedBy !== 'operator');
  const checks: Check[] = [];
  if (failing.length > 0)
    checks.push(
      warning(
        'webhooks',
        `${printCountOf(failing.length, 'webhook')} failing for more than 24 hours: ${listed(failing, ({ lastResult }) => lastResult ?? '')}`,
        'no change is lost; ask the partner to repair the endpoint, then run: offerbook webhooks resume ID',
      ),
    );
  if (paused.length > 0)
    checks.push(
      warning(
        'webhooks',
        `${printCountOf(paused.length, 'webhook')} paused automatically: ${listed(paused, ({ pausedBy }) => `by the ${pausedBy}`)}`,
        'run: offerbook webhooks resume ID, or offerbook webhooks delete ID',
      ),
    );
  return checks.length > 0 ? checks : [ok('webhooks', printCountOf(webhooks.length, 'webhook'))];
}

function listed(webhooks: readonly Webhook[], reason: (webhook: Webhook) => string): string {
  return webhooks.map((webhook) => `${webhook.id} of "${webhook.orgName}" (${reason(webhook)})`).join(', ');
}
