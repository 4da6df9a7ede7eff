// Do partners get their data?

import {
  type AccessToken,
  endMs,
  isExpiring,
  type TokenState,
  tokenState,
} from '../../domain/access-token.ts';
import type { PublicOrganisation } from '../../domain/stores.ts';
import type { OrganisationTally } from '../../http/caller-tally.ts';
import { type Html, html } from '../../http/site/html.ts';
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
      'Do they get their data?',
      table(
        'Organisations',
        ['Organisation', 'Last change (UTC)', 'Last poll', 'Behind', 'Requests', 'Errors'],
        organisations.map((org) => {
          const tally = tallies.get(org.id);
          const changedAtMs = clocks.get(org.id) ?? org.createdAtMs;
          return [
            html`<bdi>${org.name}</bdi>`,
            changedAtMs === org.createdAtMs ? 'none' : moment(changedAtMs),
            since(tally?.lastPollAtMs, nowMs),
            behind(tally, changedAtMs, nowMs),
            number(tally?.requests ?? 0),
            share(tally?.errors ?? 0, tally?.requests ?? 0),
          ];
        }),
        'No organisations.',
      ),
      source(
        'offerbook_organisation_last_poll_timestamp_seconds',
        'offerbook_organisation_requests_total',
        'offerbook_organisation_errors_total',
        'Complete-Through',
      ),
      html`<p class="source">Polls, requests and errors are those that this node has answered since it started ${since(startedAtMs, nowMs)}; they are kept in memory. Behind: for how long a change has been waiting to be fetched by a poll that goes on to the last page.</p>`,
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

function behind(tally: OrganisationTally | undefined, changedAtMs: number, nowMs: number): Html {
  if (tally?.toldThroughMs === undefined) return html`not known`;
  if (tally.toldThroughMs >= changedAtMs) return tag('nothing to fetch', 'good');
  return tag(duration(nowMs - tally.toldThroughMs), 'bad');
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
