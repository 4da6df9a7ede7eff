// Pulls: how far the sales of each network have been read, and how many requests may be sent.

import type { Cell } from '../data-table.ts';
import { type Html, html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import {
  ago,
  command,
  commands,
  counter,
  decimal,
  number,
  organisationLink,
  section,
  source,
  table,
  tag,
} from './elements.ts';

export interface ShownStream {
  readonly source: string;
  readonly stream: string;
  /** Null for sources whose sub-ids are click ids. */
  readonly orgName: string | null;
  /** True if several runs have been missed. */
  readonly isLate: boolean;
  readonly completeThroughMs: number | null;
  readonly lastSuccessMs: number | null;
  /** When the next run is due, if runs continue at the same interval; null if it is not known. */
  readonly dueMs: number | null;
  readonly counts: Readonly<Record<'added' | 'changed' | 'unchanged' | 'invalid', number>>;
  /** Never contains secrets. */
  readonly error: string | null;
  readonly failedAtMs: number | null;
}

export interface ShownRequests {
  readonly source: string;
  readonly counts: Readonly<Record<'ok' | 'too many' | 'failed' | 'refused', number>>;
  readonly budget: {
    readonly perMinute: number;
    /** Requests that may be sent at once. */
    readonly free: number;
    /** When the next request may be sent. */
    readonly nextAtMs: number;
  } | null;
}

export function pullsPage(
  streams: readonly ShownStream[],
  requests: readonly ShownRequests[],
  nowMs: number,
): ConsolePage {
  return {
    title: 'Pulls',
    main: html`${section(
      'Streams',
      table(
        'Streams',
        streams,
        {
          Source: ({ source: name }) => html`<bdi>${name}</bdi>`,
          Stream: ({ stream }) => stream,
          Organisation: ({ orgName }) => (orgName === null ? '' : organisationLink(orgName)),
          State: ({ error }) => (error === null ? tag('ok', 'good') : tag('failed', 'bad')),
          'Complete through': (stream) => completeThrough(stream, nowMs),
          'Last success': ({ lastSuccessMs }) => ago(lastSuccessMs, nowMs),
          'Next due': ({ dueMs }) => (dueMs === null ? 'unknown' : ago(dueMs, nowMs)),
          Added: ({ counts }) => counter(counts.added),
          Changed: ({ counts }) => counter(counts.changed),
          Unchanged: ({ counts }) => counter(counts.unchanged),
          Invalid: ({ counts }) => counter(counts.invalid),
        },
        'Nothing has been pulled yet.',
      ),
      errors(streams, nowMs),
      source(
        'offerbook pull status',
        'offerbook_pull_complete_through_timestamp_seconds',
        'offerbook_pull_rows_total',
      ),
      html`<p class="source">Networks list changes late, so the sales are complete through ten minutes ago at best. Next due: the start of the last run plus the time between the last two. The stream <code>reread</code> cycles through old sales and reads them again. Its added and changed rows are changes that the network had not listed.</p>`,
      commands(
        command('Check the credentials and the clock:', 'offerbook doctor --source awin.json'),
        command('Pull now:', 'offerbook pull --source awin.json --org NAME'),
        command('Read a period again:', 'offerbook pull --source awin.json --org NAME --since 2026-08-01'),
      ),
    )}
${section(
  'Requests',
  table(
    'Requests to networks',
    requests,
    {
      Source: ({ source: name }) => html`<bdi>${name}</bdi>`,
      Ok: ({ counts }) => counter(counts.ok),
      'Too many': ({ counts }) => counter(counts['too many']),
      Failed: ({ counts }) => counter(counts.failed),
      Refused: ({ counts }) => counter(counts.refused),
      'Per minute': ({ budget }) => (budget === null ? '' : decimal(budget.perMinute, 1)),
      'Free now': ({ budget }) => (budget === null ? '' : number(budget.free)),
      'Next request': ({ budget }) => nextRequest(budget, nowMs),
    },
    'No requests yet.',
  ),
  source('offerbook_pull_requests_total'),
  html`<p class="source">Too many: the network’s rate limit was reached. Failed: errors that a retry may fix. Refused: wrong credentials or an invalid request. Sources with the same credentials share a budget, which is 80 % of what the network allows.</p>`,
)}`,
  };
}

function completeThrough({ completeThroughMs, isLate }: ShownStream, nowMs: number): Html {
  const shown = ago(completeThroughMs, nowMs);
  return isLate ? html`<span class="tag bad">${shown}</span>` : shown;
}

function nextRequest(budget: ShownRequests['budget'], nowMs: number): Cell {
  if (budget === null) return '';
  return budget.nextAtMs <= nowMs ? 'now' : ago(budget.nextAtMs, nowMs);
}

/** A table of its own, because the messages are too long for the table of streams. */
function errors(streams: readonly ShownStream[], nowMs: number): Html | undefined {
  const failed = streams.filter(({ error }) => error !== null);
  if (failed.length === 0) return undefined;
  return table('Last errors', failed, {
    Source: ({ source: name }) => html`<bdi>${name}</bdi>`,
    Stream: ({ stream }) => stream,
    Failed: ({ failedAtMs }) => ago(failedAtMs, nowMs),
    Error: ({ error }) => html`<bdi>${error ?? ''}</bdi>`,
  });
}
