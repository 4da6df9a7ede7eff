// Webhooks: whether the endpoints of partners receive their transactions.

import * as ui from '@offerbook/site/console/elements.ts';
import { type Html, html } from '@offerbook/site/html.ts';
import { MINUTE_MS } from '@offerbook/wire/time.ts';
import { type WebhookStatus, webhookState } from '../../domain/webhook.ts';
import type { MakePage } from '../page-context.ts';

/** A change normally arrives within a second or two. */
const LATE_MS = MINUTE_MS;

export const webhooksPage: MakePage = async ({ node: { nowMs, state }, stores: openStores }) => {
  const { webhooks } = await openStores();
  return {
    title: 'Webhooks',
    main: ui.untitled(
      ui.table(
        'Webhooks',
        await webhooks.list(),
        {
          // The path may contain a secret.
          Endpoint: ({ url, id }) =>
            html`<code class="origin">${new URL(url).origin}</code> ${ui.shortId(id)}`,
          Organisation: ({ orgName }) => ui.organisationLink(orgName),
          State: stateTag,
          Lag: (webhook) => lag(webhook, nowMs),
          Failures: ({ failures, failingSinceMs }) =>
            failingSinceMs === null
              ? 'none'
              : html`${ui.number(failures)}, the first ${ui.ago(failingSinceMs, nowMs)}`,
          'Last result': ({ lastResult }) => lastResult ?? 'none',
          'Next attempt': ({ retryAtMs, pausedAtMs }) =>
            retryAtMs === null || pausedAtMs !== null ? '' : ui.ago(retryAtMs, nowMs),
          'Last delivery': ({ deliveredAtMs }) => ui.ago(deliveredAtMs, nowMs),
        },
        'No webhooks.',
      ),
      ui.source(
        'offerbook webhooks list',
        'offerbook_webhooks',
        'offerbook_webhook_lag_seconds',
        'offerbook_webhook_failing_seconds',
      ),
      html`<p class="source">Lag: the age of the oldest change that the endpoint has not received. Failures: failed requests since the last success. Last result: the status of the last response, or why there was none. ${state.sender?.isSending ? 'This node sends the webhooks of this database.' : 'Another node sends the webhooks of this database, or there are none.'}</p>`,
      ui.commands({
        'Register an endpoint:':
          'offerbook webhooks create --org NAME --url https://partner.example/offerbook',
        'Send a request without transactions:': 'offerbook webhooks test ID',
        'Retry now, or continue after a pause:': 'offerbook webhooks resume ID',
      }),
    ),
  };
};

function stateTag(webhook: WebhookStatus): Html {
  const state = webhookState(webhook);
  if (state === 'paused') return ui.tag(`paused by the ${webhook.pausedBy ?? 'operator'}`);
  return ui.tag(state, state === 'failing' ? 'bad' : state === 'up to date' ? 'good' : 'plain');
}

function lag({ behindSinceMs, pausedAtMs }: WebhookStatus, nowMs: number): Html {
  if (behindSinceMs === null) return html`none`;
  const ms = Math.max(0, nowMs - behindSinceMs);
  return ui.tag(ui.duration(ms), ms > LATE_MS && pausedAtMs === null ? 'bad' : 'plain');
}
