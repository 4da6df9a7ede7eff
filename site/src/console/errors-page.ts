// The errors that this node has returned.

import { html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import { ago, command, number, organisationLink, shortId, source, table, tag, untitled } from './elements.ts';

interface ErrorsView {
  readonly nowMs: number;
  readonly startedAtMs: number;
  /** Name of the organisation that the page is about; undefined for all. */
  readonly org: string | undefined;
  /** Latest error first. */
  readonly groups: readonly ErrorGroup[];
}

interface ErrorGroup {
  readonly code: string;
  readonly status: number;
  readonly route: string;
  /** Undefined if the request had no valid token. */
  readonly orgName: string | undefined;
  readonly count: number;
  readonly lastAtMs: number;
  readonly lastRequestId: string;
}

export function errorsPage({ nowMs, startedAtMs, org, groups }: ErrorsView): ConsolePage {
  return {
    title: 'Errors',
    main: untitled(
      org === undefined
        ? undefined
        : html`<p>Only errors of <bdi>${org}</bdi>. <a href="/errors">All errors</a></p>`,
      table(
        'Errors, latest first',
        groups,
        {
          Code: ({ code }) => html`<code>${code}</code>`,
          Status: ({ status }) => tag(String(status), status >= 500 ? 'bad' : 'plain'),
          Operation: ({ route }) => html`<code>${route}</code>`,
          Organisation: ({ orgName }) =>
            orgName === undefined
              ? html`<span class="muted">unknown</span>`
              : organisationLink(orgName, '/errors'),
          Count: ({ count }) => number(count),
          Last: ({ lastAtMs }) => ago(lastAtMs, nowMs),
          'Request id': ({ lastRequestId }) => shortId(lastRequestId),
        },
        'No errors.',
      ),
      source('offerbook_http_errors_total'),
      html`<p class="source">Counted in memory since this node started, ${ago(startedAtMs, nowMs)}. The organisation is known only if the request had a valid token.</p>`,
      command(
        'Find a request in the server log:',
        'journalctl -u offerbook -o cat | grep \'"requestId":"ID"\'',
      ),
    ),
  };
}
