// Organisations: their tokens, and whether partners receive their transactions.

import { type Html, html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import {
  ago,
  command,
  commands,
  duration,
  linked,
  number,
  organisationLink,
  section,
  share,
  shellWord,
  shortId,
  source,
  table,
  tag,
} from './elements.ts';

interface OrganisationsView {
  readonly nowMs: number;
  readonly startedAtMs: number;
  readonly organisations: readonly OrganisationSync[];
  readonly tokens: readonly ShownToken[];
}

interface OrganisationSync {
  readonly name: string;
  readonly publicId: string;
  /** Undefined if no transaction was ever imported. */
  readonly changedAtMs: number | undefined;
  /** Undefined if the organisation has never polled. */
  readonly polledAtMs: number | undefined;
  readonly behind: Behind;
  /** Stamp through which the organisation has read every change; undefined if this node has not answered a complete poll. */
  readonly readThroughMs: number | undefined;
  readonly liveTokens: number;
  readonly requests: number;
  readonly errors: number;
}

/** How long the oldest change has been waiting for a poll. */
export interface Behind {
  /** 0 if no change is waiting; undefined if this node has not answered a poll. */
  readonly waitedMs: number | undefined;
  /** True if `waitedMs` is an upper bound, because another node may have answered a later poll. */
  readonly isAtMost: boolean;
}

interface ShownToken {
  readonly id: string;
  readonly orgName: string;
  readonly kind: string;
  readonly label: string;
  readonly state: 'live' | 'ending' | 'revoked' | 'expired';
  readonly isExpiring: boolean;
  readonly lastUsedAtMs: number | null;
  readonly endMs: number | null;
}

export function organisationsPage(view: OrganisationsView): ConsolePage {
  const { nowMs, startedAtMs, organisations, tokens } = view;
  return {
    title: 'Organisations',
    main: html`${section(
      'Partner sync',
      table(
        'Organisations',
        [
          ...['Organisation', 'orgId', 'Last change', 'Last poll', 'Behind', 'Read through'],
          ...['Tokens', 'Requests', 'Errors'],
        ],
        organisations.map((org) => organisationRow(org, nowMs)),
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
    ['Token', 'Organisation', 'Kind', 'Label', 'State', 'Last used', 'Ends'],
    tokens.map((token) => tokenRow(token, nowMs)),
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
}

function organisationRow(org: OrganisationSync, nowMs: number) {
  const { name, publicId, changedAtMs, readThroughMs, requests, errors } = org;
  const query = new URLSearchParams({ org: name });
  return [
    organisationLink(name),
    shortId(publicId),
    changedAtMs === undefined ? 'none' : linked(`/transactions?${query}`, ago(changedAtMs, nowMs)),
    ago(org.polledAtMs, nowMs),
    behindTag(org.behind),
    readThroughMs === undefined ? 'unknown' : ago(readThroughMs, nowMs),
    linked('#tokens', number(org.liveTokens)),
    number(requests),
    requests === 0 ? '–' : linked(`/errors?${query}`, share(errors, requests)),
  ];
}

function behindTag({ waitedMs, isAtMost }: Behind): Html {
  if (waitedMs === undefined) return html`unknown`;
  if (waitedMs === 0) return tag('up to date', 'good');
  return isAtMost ? tag(`at most ${duration(waitedMs)}`) : tag(duration(waitedMs), 'bad');
}

function tokenRow(token: ShownToken, nowMs: number) {
  return [
    shortId(token.id),
    organisationLink(token.orgName),
    token.kind,
    html`<bdi>${token.label}</bdi>`,
    token.isExpiring
      ? tag('expires soon', 'bad')
      : tag(token.state, token.state === 'live' ? 'good' : 'plain'),
    ago(token.lastUsedAtMs, nowMs),
    ago(token.endMs, nowMs),
  ];
}
