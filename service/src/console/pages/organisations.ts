// Organisations: their tokens, and whether partners receive their transactions.

import * as ui from '@offerbook/site/console/elements.ts';
import { type Html, html } from '@offerbook/site/html.ts';
import { type AccessToken, endMs, isExpiring, isLive, tokenState } from '../../domain/access-token.ts';
import type { OrganisationTally } from '../../http/request-tally.ts';
import type { MakePage } from '../page-context.ts';

export const organisationsPage: MakePage = async ({ node, stores: openStores }) => {
  const stores = await openStores();
  const { nowMs, startedAtMs, state } = node;
  const organisations = await stores.organisations.list();
  const clocks = await stores.organisations.changeClocks();
  const { tokens } = await stores.tokens.list();
  const rows = organisations.map(({ id, name, publicId, createdAtMs }) => {
    const tally = state.requests.organisations.get(id);
    const own = tokens.filter(({ orgId }) => orgId === id);
    const changedAtMs = clocks.get(id) ?? createdAtMs;
    // Every use of a private token counts as a poll, because private tokens can only read transactions.
    const used = own.filter(({ kind }) => kind === 'private').map(({ lastUsedAtMs }) => lastUsedAtMs);
    const polledAtMs = latest([tally?.lastPollAtMs, ...used]);
    const hasChanged = changedAtMs !== createdAtMs;
    const liveTokens = own.filter((token) => isLive(token, nowMs)).length;
    return { name, publicId, tally, changedAtMs, hasChanged, polledAtMs, liveTokens };
  });
  return {
    title: 'Organisations',
    main: html`${ui.section(
      'Partner sync',
      ui.table(
        'Organisations',
        rows,
        {
          Organisation: ({ name }) => ui.organisationLink(name),
          orgId: ({ publicId }) => ui.shortId(publicId),
          'Last change': ({ name, changedAtMs, hasChanged }) =>
            hasChanged ? ui.linked(ui.pathFor('/transactions', name), ui.ago(changedAtMs, nowMs)) : 'none',
          'Last poll': ({ polledAtMs }) => ui.ago(polledAtMs, nowMs),
          Behind: ({ tally, polledAtMs, changedAtMs }) => behindTag(tally, polledAtMs, changedAtMs, nowMs),
          'Read through': ({ tally }) =>
            tally?.syncedThroughMs === undefined ? 'unknown' : ui.ago(tally.syncedThroughMs, nowMs),
          Tokens: ({ liveTokens }) => ui.linked('#tokens', ui.number(liveTokens)),
          Requests: ({ tally }) => ui.number(tally?.requests ?? 0),
          Errors: ({ name, tally }) =>
            tally === undefined || tally.requests === 0
              ? '–'
              : ui.linked(ui.pathFor('/errors', name), ui.share(tally.errors, tally.requests)),
        },
        'No organisations.',
      ),
      ui.source(
        'offerbook orgs list',
        'offerbook tokens list',
        'offerbook_organisation_last_poll_timestamp_seconds',
        'offerbook_organisation_requests_total',
        'offerbook_organisation_errors_total',
        'Complete-Through',
      ),
      html`<p class="source">Requests and errors: those of this node since it started, ${ui.ago(startedAtMs, nowMs)}. Last poll: when any node last accepted a private token of the organisation; nodes store this every 30 s. Behind: how long the oldest change has been waiting for a poll that reads to the last page. This node knows only the polls that it answered itself, so “at most” means that another node may have answered a later one.</p>`,
      ui.commands({ 'Create an organisation:': 'offerbook orgs create NAME' }),
    )}
${ui.section(
  'Tokens',
  ui.table(
    'Tokens',
    tokens,
    {
      Token: ({ id }) => ui.shortId(id),
      Organisation: ({ orgName }) => ui.organisationLink(orgName),
      Kind: ({ kind }) => kind,
      Label: ({ label }) => html`<bdi>${label}</bdi>`,
      State: (token) => stateTag(token, nowMs),
      'Last used': ({ lastUsedAtMs }) => ui.ago(lastUsedAtMs, nowMs),
      Ends: (token) => ui.ago(endMs(token), nowMs),
    },
    'No tokens.',
  ),
  ui.source('offerbook tokens list', 'offerbook_tokens_expiring'),
  ui.commands({
    'Issue a token:': `offerbook tokens issue --org ${ui.shellWord(organisations[0]?.name ?? 'NAME')} --kind private --expires 90d`,
    'Replace a token; the old one stays valid for a day:': 'offerbook tokens rotate ID',
    'Revoke a token at once:': 'offerbook tokens revoke ID',
  }),
)}`,
  };
};

/**
 * How long the oldest change has been waiting for a poll. The database does not record which changes a poll has returned, so
 * this node knows only about the polls that it answered. The time is an upper bound if another node may have answered a later one.
 */
function behindTag(
  tally: OrganisationTally | undefined,
  polledAtMs: number | undefined,
  changedAtMs: number,
  nowMs: number,
): Html {
  if (tally?.syncedThroughMs === undefined) return html`unknown`;
  if (tally.syncedThroughMs >= changedAtMs) return ui.tag('up to date', 'good');
  const waited = ui.duration(nowMs - tally.syncedThroughMs);
  return tally.lastPollAtMs === polledAtMs ? ui.tag(waited, 'bad') : ui.tag(`at most ${waited}`);
}

function stateTag(token: AccessToken, nowMs: number): Html {
  if (isExpiring(token, nowMs)) return ui.tag('expires soon', 'bad');
  const state = tokenState(token, nowMs);
  return ui.tag(state, state === 'live' ? 'good' : 'plain');
}

function latest(moments: readonly (number | null | undefined)[]): number | undefined {
  const known = moments.filter((ms) => typeof ms === 'number');
  return known.length === 0 ? undefined : Math.max(...known);
}
