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
  pathFor,
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
        organisations,
        {
          Organisation: ({ name }) => organisationLink(name),
          orgId: ({ publicId }) => shortId(publicId),
          'Last change': ({ name, changedAtMs }) =>
            changedAtMs === undefined
              ? 'none'
              : linked(pathFor('/transactions', name), ago(changedAtMs, nowMs)),
          'Last poll': ({ polledAtMs }) => ago(polledAtMs, nowMs),
          Behind: ({ behind }) => behindTag(behind),
          'Read through': ({ readThroughMs }) =>
            readThroughMs === undefined ? 'unknown' : ago(readThroughMs, nowMs),
          Tokens: ({ liveTokens }) => linked('#tokens', number(liveTokens)),
          Requests: ({ requests }) => number(requests),
          Errors: ({ name, requests, errors }) =>
            requests === 0 ? '–' : linked(pathFor('/errors', name), share(errors, requests)),
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
      State: stateTag,
      'Last used': ({ lastUsedAtMs }) => ago(lastUsedAtMs, nowMs),
      Ends: ({ endMs }) => ago(endMs, nowMs),
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
}

function behindTag({ waitedMs, isAtMost }: Behind): Html {
  if (waitedMs === undefined) return html`unknown`;
  if (waitedMs === 0) return tag('up to date', 'good');
  return isAtMost ? tag(`at most ${duration(waitedMs)}`) : tag(duration(waitedMs), 'bad');
}

function stateTag({ isExpiring, state }: ShownToken): Html {
  if (isExpiring) return tag('expires soon', 'bad');
  return tag(state, state === 'live' ? 'good' : 'plain');
}
