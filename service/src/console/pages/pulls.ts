// Pulls: how far the sales of each network have been read, and how many requests may be sent.

import * as ui from '@offerbook/site/console/elements.ts';
import type { Cell } from '@offerbook/site/data-table.ts';
import { type Html, html } from '@offerbook/site/html.ts';
import { MINUTE_MS } from '@offerbook/wire/time.ts';
import { type PullState, REREAD, type SourceRequests } from '../../domain/pull.ts';
import { isLateStream } from '../../health/content-checks.ts';
import type { MakePage } from '../page-context.ts';

export const pullsPage: MakePage = async ({ node: { nowMs }, stores: openStores }) => {
  const { pulls } = await openStores();
  const streams = await pulls.list();
  const failed = streams.filter(({ error }) => error !== null);
  return {
    title: 'Pulls',
    main: html`${ui.section(
      'Streams',
      ui.table(
        'Streams',
        streams,
        {
          Source: ({ source }) => html`<bdi>${source}</bdi>`,
          Stream: ({ stream }) => stream,
          Organisation: ({ orgName }) => (orgName === null ? '' : ui.organisationLink(orgName)),
          State: ({ error }) => (error === null ? ui.tag('ok', 'good') : ui.tag('failed', 'bad')),
          'Complete through': (stream) => completeThrough(stream, nowMs),
          'Last success': ({ lastSuccessMs }) => ui.ago(lastSuccessMs, nowMs),
          'Next due': (stream) => nextDue(stream, nowMs),
          Added: ({ counts }) => ui.counter(counts.added),
          Changed: ({ counts }) => ui.counter(counts.changed),
          Unchanged: ({ counts }) => ui.counter(counts.unchanged),
          Invalid: ({ counts }) => ui.counter(counts.invalid),
        },
        'Nothing has been pulled yet.',
      ),
      // A table of its own, because the messages are too long for the table of streams.
      failed.length === 0
        ? undefined
        : ui.table('Last errors', failed, {
            Source: ({ source }) => html`<bdi>${source}</bdi>`,
            Stream: ({ stream }) => stream,
            Failed: ({ failedAtMs }) => ui.ago(failedAtMs, nowMs),
            Error: ({ error }) => html`<bdi>${error ?? ''}</bdi>`,
          }),
      ui.source(
        'offerbook pull status',
        'offerbook_pull_complete_through_timestamp_seconds',
        'offerbook_pull_rows_total',
      ),
      html`<p class="source">Networks list changes late, so the sales are complete through ten minutes ago at best. Next due: the start of the last run plus the time between the last two. The stream <code>reread</code> cycles through old sales and reads them again. Its added and changed rows are changes that the network had not listed.</p>`,
      ui.commands({
        'Check the credentials and the clock:': 'offerbook doctor --source awin.json',
        'Pull now:': 'offerbook pull --source awin.json --org NAME',
        'Read a period again:': 'offerbook pull --source awin.json --org NAME --since 2026-08-01',
      }),
    )}
${ui.section(
  'Requests',
  ui.table(
    'Requests to networks',
    await pulls.listRequests(),
    {
      Source: ({ source }) => html`<bdi>${source}</bdi>`,
      Ok: ({ counts }) => ui.counter(counts.ok),
      'Too many': ({ counts }) => ui.counter(counts['too many']),
      Failed: ({ counts }) => ui.counter(counts.failed),
      Refused: ({ counts }) => ui.counter(counts.refused),
      'Per minute': ({ budget }) => (budget === null ? '' : ui.decimal(MINUTE_MS / budget.intervalMs, 1)),
      'Free now': ({ budget }) => freeRequests(budget, nowMs),
      'Next request': ({ budget }) => nextRequest(budget, nowMs),
    },
    'No requests yet.',
  ),
  ui.source('offerbook_pull_requests_total'),
  html`<p class="source">Too many: the network’s rate limit was reached. Failed: errors that a retry may fix. Refused: wrong credentials or an invalid request. Sources with the same credentials share a budget, which is 80 % of what the network allows.</p>`,
)}`,
  };
};

function completeThrough(stream: PullState, nowMs: number): Html {
  const shown = ui.ago(stream.completeThroughMs, nowMs);
  return isLateStream(stream, nowMs) ? html`<span class="tag bad">${shown}</span>` : shown;
}

/** Assumes that runs continue at the same interval. */
function nextDue({ stream, runMs, everyMs, failedAtMs }: PullState, nowMs: number): Cell {
  if (stream === REREAD || everyMs === null) return 'unknown';
  return ui.ago(Math.max(runMs ?? 0, failedAtMs ?? 0) + everyMs, nowMs);
}

type Budget = SourceRequests['budget'];

/** Number of requests that may be sent at once. */
function freeRequests(budget: Budget, nowMs: number): Cell {
  if (budget === null) return '';
  return ui.number(Math.max(0, Math.floor(budget.burst - usedMs(budget, nowMs) / budget.intervalMs)));
}

function nextRequest(budget: Budget, nowMs: number): Cell {
  if (budget === null) return '';
  const waitMs = usedMs(budget, nowMs) + (1 - budget.burst) * budget.intervalMs;
  return waitMs <= 0 ? 'now' : ui.ago(nowMs + waitMs, nowMs);
}

function usedMs({ nextAtMs }: NonNullable<Budget>, nowMs: number): number {
  return Math.max(0, nextAtMs - nowMs);
}
