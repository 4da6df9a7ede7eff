// What goes wrong?

import { html } from '@offerbook/site/html.ts';
import { ERRORS } from '../../domain/api-errors.ts';
import type { MakePage } from '../console-page.ts';
import { command, number, section, since, source, table, tag } from '../elements.ts';

export const errorsPage: MakePage = async ({ node }) => {
  const { nowMs, startedAtMs, state } = node;
  const groups = [...state.callers.errors.values()].toSorted((a, b) => b.lastAtMs - a.lastAtMs);
  return {
    title: 'Errors',
    main: section(
      'By code, operation and organisation',
      table(
        'Errors, the latest first',
        ['Code', 'Status', 'Operation', 'Organisation', 'Count', 'Last', 'Its request id'],
        groups.map(({ code, route, orgName, count, lastAtMs, lastRequestId }) => [
          html`<code>${code}</code>`,
          tag(String(ERRORS[code].status), ERRORS[code].status >= 500 ? 'bad' : 'plain'),
          html`<code>${route}</code>`,
          orgName === undefined ? html`<span class="muted">not known</span>` : html`<bdi>${orgName}</bdi>`,
          number(count),
          since(lastAtMs, nowMs),
          html`<code>${lastRequestId}</code>`,
        ]),
        'None.',
      ),
      source('offerbook_http_errors_total'),
      html`<p class="source">Those that this node has answered since it started ${since(startedAtMs, nowMs)}; they are kept in memory. An organisation is known from the moment at which its token is.</p>`,
      command(
        'Find a request in the log of the server:',
        'journalctl -u offerbook -o cat | grep \'"requestId":"ID"\'',
      ),
    ),
  };
};
