// Whether partners receive their transactions: last polls, waiting changes, tokens.

import { type Html, html } from '@offerbook/site/html.ts';
import {
  type AccessToken,
  endMs,
  isExpiring,
  type TokenState,
  tokenState,
} from '../../domain/access-token.ts';
import type { PublicOrganisation } from '../../domain/stores.ts';
import type { OrganisationTally } from '../../http/caller-tally.ts';
import type { MakePage } from '../console-page.ts';
import {
  command,
  duration,
  moment,
  number,
  section,
  share,
  shellWord,
  since,
  source,
  table,
  tag,
} from '../elements.ts';

const TONES: Record<TokenState, 'good' | 'bad' | 'plain'> = {
  live: 'good',
  ending: 'plain',
  revoked: 'plain',
  expired: 'plain',
};

export const organisationsPage: MakePage = async ({ node, stores: openStores }) => {
  const stores = await openStores();
  const { nowMs, startedAtMs, state } = node;
  const organisations = await stores.organisations.list();
  const clocks = await stores.organisations.changeClocks();
  const { tokens } = await stores.tokens.list();
  const { organisations: tallies } = state.callers;
  return {
    title: 'Organisations',
    main: html`${section(
      'Partner sync',
      table(
        'Organisations',
        ['Organisation', 'orgId', 'Last change (UTC)', 'Last poll', 'Behind', 'Requests', 'Errors'],
        organisations.map((org) => {
          const tally = tallies.get(org.id);
          const changedAtMs = clocks.get(org.id) ?? org.createdAtMs;
          const polledAtMs = latest([tally?.lastPollAtMs, lastUse(tokens, org.id)]);
          return [
            html`<bdi>${org.name}</bdi>`,
            html`<code>${org.publicId}</code>`,
            changedAtMs === org.createdAtMs ? 'none' : moment(changedAtMs),
            since(polledAtMs, nowMs),
            behind(tally, polledAtMs, changedAtMs, nowMs),
            number(tally?.requests ?? 0),
            share(tally?.errors ?? 0, tally?.requests ?? 0),
          ];
        }),
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
      html`<p class="source">Requests and errors are those that this node has answered since it started ${since(startedAtMs, nowMs)}. Last poll: when any node last accepted a private token of the organisation; every node writes that down each half minute. Behind: how long a change has been waiting for a poll that reads to the last page, as far as this node has answered such polls; “at most” means that another node may have answered a later one.</p>`,
      command('Add one:', 'offerbook orgs create NAME'),
    )}
${section(
  'Tokens',
  table(
    'Tokens',
    ['Token', 'Organisation', 'Kind', 'Label', 'State', 'Last used', 'Ends'],
    tokens.map((token) => tokenRow(token, nowMs)),
    'No tokens.',
  ),
  source('offerbook tokens list', 'offerbook_tokens_expiring'),
  command(
    'Issue a token:',
    `offerbook tokens issue --org ${exampleName(organisations)} --kind private --expires 90d`,
  ),
  command('Replace one; both are good for a day:', 'offerbook tokens rotate ID'),
  command('End one at once:', 'offerbook tokens revoke ID'),
)}`,
  };
};

/** The database does not record which changes a poll has returned: that is known only of polls that this node answered. */
function behind(
  tally: OrganisationTally | undefined,
  polledAtMs: number | undefined,
  changedAtMs: number,
  nowMs: number,
): Html {
  if (tally?.toldThroughMs === undefined) return html`not known`;
  if (tally.toldThroughMs >= changedAtMs) return tag('nothing to fetch', 'good');
  const waited = duration(nowMs - tally.toldThroughMs);
  return tally.lastPollAtMs === polledAtMs ? tag(waited, 'bad') : tag(`at most ${waited}`);
}

/** Private tokens read transactions and nothing else. */
function lastUse(tokens: readonly AccessToken[], orgId: number): number | undefined {
  return latest(
    tokens.map((token) => (token.orgId === orgId && token.kind === 'private' ? token.lastUsedAtMs : null)),
  );
}

function latest(moments: readonly (number | null | undefined)[]): number | undefined {
  const known = moments.filter((ms) => typeof ms === 'number');
  return known.length === 0 ? undefined : Math.max(...known);
}

function tokenRow(token: AccessToken, nowMs: number) {
  const state = tokenState(token, nowMs);
  const end = endMs(token);
  return [
    html`<code>${token.id}</code>`,
    html`<bdi>${token.orgName}</bdi>`,
    token.kind,
    html`<bdi>${token.label}</bdi>`,
    isExpiring(token, nowMs) ? tag('ends soon', 'bad') : tag(state, TONES[state]),
    since(token.lastUsedAtMs, nowMs),
    since(end, nowMs),
  ];
}

function exampleName(organisations: readonly PublicOrganisation[]): string {
  return shellWord(organisations[0]?.name ?? 'NAME');
}
