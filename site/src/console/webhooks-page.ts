// Webhooks: whether the endpoints of partners receive their transactions.

import { type Html, html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import {
  ago,
  command,
  commands,
  duration,
  number,
  organisationLink,
  shortId,
  source,
  table,
  tag,
  untitled,
} from './elements.ts';

interface ShownWebhook {
  readonly id: string;
  readonly orgName: string;
  readonly origin: string;
  readonly state: 'up to date' | 'behind' | 'failing' | 'paused';
  readonly pausedBy: string | null;
  readonly behindSinceMs: number | null;
  readonly failingSinceMs: number | null;
  readonly failures: number;
  readonly retryAtMs: number | null;
  readonly lastResult: string | null;
  readonly deliveredAtMs: number | null;
}

/** A change normally arrives within a second or two. */
const LATE_MS = 60_000;

/** `isSending` is true if this node sends webhooks. */
export function webhooksPage(
  webhooks: readonly ShownWebhook[],
  isSending: boolean,
  nowMs: number,
): ConsolePage {
  return {
    title: 'Webhooks',
    main: untitled(
      table(
        'Webhooks',
        webhooks,
        {
          Endpoint: ({ origin, id }) => html`<code class="origin">${origin}</code> ${shortId(id)}`,
          Organisation: ({ orgName }) => organisationLink(orgName),
          State: stateTag,
          Lag: (webhook) => lag(webhook, nowMs),
          Failures: (webhook) => failures(webhook, nowMs),
          'Last result': ({ lastResult }) => lastResult ?? 'none',
          'Next attempt': ({ retryAtMs, state }) =>
            retryAtMs === null || state === 'paused' ? '' : ago(retryAtMs, nowMs),
          'Last delivery': ({ deliveredAtMs }) => ago(deliveredAtMs, nowMs),
        },
        'No webhooks.',
      ),
      source(
        'offerbook webhooks list',
        'offerbook_webhooks',
        'offerbook_webhook_lag_seconds',
        'offerbook_webhook_failing_seconds',
      ),
      html`<p class="source">Lag: the age of the oldest change that the endpoint has not received. Failures: failed requests since the last success. Last result: the status of the last response, or why there was none. ${isSending ? 'This node sends the webhooks of this database.' : 'Another node sends the webhooks of this database, or there are none.'}</p>`,
      commands(
        command(
          'Register an endpoint:',
          'offerbook webhooks create --org NAME --url https://partner.example/offerbook',
        ),
        command('Send a request without transactions:', 'offerbook webhooks test ID'),
        command('Retry now, or continue after a pause:', 'offerbook webhooks resume ID'),
      ),
    ),
  };
}

function stateTag({ state, pausedBy }: ShownWebhook): Html {
  if (state === 'paused') return tag(`paused by the ${pausedBy ?? 'operator'}`);
  return tag(state, state === 'failing' ? 'bad' : state === 'up to date' ? 'good' : 'plain');
}

function lag({ behindSinceMs, state }: ShownWebhook, nowMs: number): Html {
  if (behindSinceMs === null) return html`none`;
  const ms = Math.max(0, nowMs - behindSinceMs);
  return tag(duration(ms), ms > LATE_MS && state !== 'paused' ? 'bad' : 'plain');
}

function failures({ failures: count, failingSinceMs }: ShownWebhook, nowMs: number): Html {
  return failingSinceMs === null
    ? html`none`
    : html`${number(count)}, the first ${ago(failingSinceMs, nowMs)}`;
}
