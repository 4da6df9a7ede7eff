// The errors that this node has returned.

import * as ui from '@offerbook/site/console/elements.ts';
import { html } from '@offerbook/site/html.ts';
import { ERRORS } from '../../domain/api-errors.ts';
import type { MakePage } from '../page-context.ts';

export const errorsPage: MakePage = async ({ node: { nowMs, startedAtMs, state }, query }) => {
  const org = query.get('org') ?? undefined;
  const groups = [...state.requests.errors.values()]
    .filter(({ orgName }) => org === undefined || orgName === org)
    .toSorted((a, b) => b.lastAtMs - a.lastAtMs);
  return {
    title: 'Errors',
    main: ui.untitled(
      org === undefined
        ? undefined
        : html`<p>Only errors of <bdi>${org}</bdi>. <a href="/errors">All errors</a></p>`,
      ui.table(
        'Errors, latest first',
        groups,
        {
          Code: ({ code }) => html`<code>${code}</code>`,
          Status: ({ code }) => statusTag(ERRORS[code].status),
          Operation: ({ route }) => html`<code>${route}</code>`,
          Organisation: ({ orgName }) =>
            orgName === undefined
              ? html`<span class="muted">unknown</span>`
              : ui.organisationLink(orgName, '/errors'),
          Count: ({ count }) => ui.number(count),
          Last: ({ lastAtMs }) => ui.ago(lastAtMs, nowMs),
          'Request id': ({ lastRequestId }) => ui.shortId(lastRequestId),
        },
        'No errors.',
      ),
      ui.source('offerbook_http_errors_total'),
      html`<p class="source">Counted in memory since this node started, ${ui.ago(startedAtMs, nowMs)}. The organisation is known only if the request had a valid token.</p>`,
      ui.command(
        'Find a request in the server log:',
        'journalctl -u offerbook -o cat | grep \'"requestId":"ID"\'',
      ),
    ),
  };
};

function statusTag(status: number) {
  return ui.tag(String(status), status >= 500 ? 'bad' : 'plain');
}
