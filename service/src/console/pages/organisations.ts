// Organisations: their tokens, and whether partners receive their transactions.

import {
  ago,
  command,
  commands,
  duration,
  linked,
  number,
  organisationLink,
  pathFor,
  section,
  share,
  shellWord,
  shortId,
  source,
  table,
  tag,
} from '@offerbook/site/console/elements.ts';
import { type Html, html } from '@offerbook/site/html.ts';
import { type AccessToken, endMs, isExpiring, isLive, tokenState } from '../../domain/access-token.ts';
import type { OrganisationTally } from '../../http/caller-tally.ts';
import type { MakePage } from '../page-context.ts';

export const organisationsPage: MakePage = async ({ node, stores: openStores }) => {
  const stores = await openStores();
  const { nowMs, startedAtMs, state } = node;
  const organisations = await stores.organisations.list();
  const clocks = await stores.organisations.changeClocks();
  const { tokens } = await stores.tokens.list();
  const rows = organisations.map(({ id, name, publicId, createdAtMs }) => {
    const tally = state.callers.organisations.get(id);
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
    main: html`${section(
      'Partner sync',
      table(
        'Organisations',
        rows,
        {
          Organisation: ({ name }) => organisationLink(name),
          orgId: ({ publicId }) => shortId(publicId),
          'Last change': ({ name, changedAtMs, hasChanged }) =>
            hasChanged ? linked(pathFor('/transactions', name), ago(changedAtMs, nowMs)) : 'none',
          'Last poll': ({ polledAtMs }) => ago(polledAtMs, nowMs),
          Behind: ({ tally, polledAtMs, changedAtMs }) => behindTag(tally, polledAtMs, changedAtMs, nowMs),
          'Read through': ({ tally }) =>
            tally?.syncedThroughMs === undefined ? 'unknown' : ago(tally.syncedThroughMs, nowMs),
          Tokens: ({ liveTokens }) => linked('#tokens', number(liveTokens)),
          Requests: ({ tally }) => number(tally?.requests ?? 0),
          Errors: ({ name, tally }) =>
            tally === undefined || tally.requests === 0
              ? '–'
              : linked(pathFor('/errors', name), share(tally.errors, tally.requests)),
        },
        'No organisations.',
      ),
      source(
        'offerbook orgs list',
        'offerbook tokens list',
        'offerbook_organisation_last_poll_timestamp_seconds',
        'offerbook_organisation_requests_total',
        'offerbook_organisation_errors_total',
        'Complete-Through',
      ),
      html`<p class="source">Requests and errors: those of this node since it started, ${ago(startedAtMs, nowMs)}. Last poll: when any node last accepted a private token of the organisation; nodes store this every 30 s. Behind: how long the oldest change has been waiting for a poll that reads to the last page. This node knows only the polls that it answered itself, so “at most” means that another node may have answered a later one.</p>`,
      commands(command('Create an organisation:', 'offerbook orgs create NAME')),
    )}
${section(
  'Tokens',
  table(
    'Tokens',
    tokens,
    {
      Token: ({ id }) => shortId(id),
      Organisation: ({ orgName }) => organisationLink(orgName),
      Kind: ({ kind }) => kind,
      Label: ({ label }) => html`<bdi>${label}</bdi>`,
      State: (token) => stateTag(token, nowMs),
      'Last used': ({ lastUsedAtMs }) => ago(lastUsedAtMs, nowMs),
      Ends: (token) => ago(endMs(token), nowMs),
    },
    'No tokens.',
  ),
  source('offerbook tokens list', 'offerbook_tokens_expiring'),
  commands(
    command(
      'Issue a token:',
      `offerbook tokens issue --org ${shellWord(organisations[0]?.name ?? 'NAME')} --kind private --expires 90d`,
    ),
    command('Replace a token; the old one stays valid for a day:', 'offerbook tokens rotate ID'),
    command('Revoke a token at once:', 'offerbook tokens revoke ID'),
  ),
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
  if (tally.syncedThroughMs >= changedAtMs) return tag('up to date', 'good');
  const waited = duration(nowMs - tally.syncedThroughMs);
  return tally.lastPollAtMs === polledAtMs ? tag(waited, 'bad') : tag(`at most ${waited}`);
}

function stateTag(token: AccessToken, nowMs: number): Html {
  if (isExpiring(token, nowMs)) return tag('expires soon', 'bad');
  const state = tokenState(token, nowMs);
  return tag(state, state === 'live' ? 'good' : 'plain');
}

function latest(moments: readonly (number | null | undefined)[]): number | undefined {
  const known = moments.filter((ms) => typeof ms === 'number');
  return known.length === 0 ? undefined : Math.max(...known);
}
