// Imports: rows per day, the freshness of each feed, and the newest entries of the import log.

import * as ui from '@offerbook/site/console/elements.ts';
import { type Html, html } from '@offerbook/site/html.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import {
  IMPORT_KINDS,
  IMPORT_OUTCOMES,
  type ImportCounts,
  type ImportDay,
  type ImportEntry,
  type ImportFeed,
  type ImportOutcome,
} from '../../domain/import-log.ts';
import { findOrganisation, type MakePage } from '../page-context.ts';

const ENTRIES_MAX = 100;
const DAYS_MAX = 30;

export const importsPage: MakePage = async ({ node: { nowMs }, stores: openStores, query }) => {
  const stores = await openStores();
  const organisations = await stores.organisations.list();
  const kind = IMPORT_KINDS.find((one) => one === query.get('kind'));
  const outcome = IMPORT_OUTCOMES.find((one) => one === query.get('outcome'));
  const org = findOrganisation(organisations, query.get('org'));
  const days = await stores.imports.days(Math.floor(nowMs / DAY_MS - DAYS_MAX + 1) * DAY_MS);
  const entries = await stores.imports.list({ kind, outcome, orgId: org?.id, limit: ENTRIES_MAX });
  const listCommand = [
    'offerbook imports list',
    ...(kind === undefined ? [] : [`--kind ${kind}`]),
    ...(org === undefined ? [] : [`--org ${ui.shellWord(org.name)}`]),
  ].join(' ');
  return {
    title: 'Imports',
    main: html`${ui.untitled(dayPlot(days), ui.source('offerbook imports list --json', 'offerbook_imports_total'))}
${freshness('Freshness', (await stores.imports.totals()).feeds, nowMs)}
${ui.section(
  'Newest imports',
  html`<form class="filter row" method="get" action="/imports">
${ui.choiceOrAll('Kind', 'kind', IMPORT_KINDS, kind)}
${ui.choiceOrAll('Outcome', 'outcome', IMPORT_OUTCOMES, outcome)}
${ui.organisationChoice(organisations, org)}
<button type="submit">Show</button></form>`,
  importTable(entries, nowMs),
  entries.length === ENTRIES_MAX
    ? html`<p class="muted">Only the newest ${ui.number(ENTRIES_MAX)} are shown. The command lists more with <code>--limit</code>.</p>`
    : undefined,
  ui.source(listCommand),
  ui.commands({
    'Preview an import without changing anything:': 'offerbook import transactions FILE --org NAME --dry-run',
  }),
)}`,
  };
};

/** A day can have several entries. */
function dayPlot(days: readonly ImportDay[]): Html {
  type Group = readonly [dayMs: number, entries: readonly ImportDay[]];
  const sum = (name: keyof ImportCounts) => (group: Group) =>
    ui.number(group[1].reduce((total, { counts }) => total + counts[name], 0));
  return ui.plot<Group>(
    'bars',
    `Rows per day, last ${DAYS_MAX} days`,
    [...Map.groupBy(days, ({ dayMs }) => dayMs)],
    { 'Day (UTC)': ([dayMs]) => ui.day(dayMs) },
    {
      Added: ['green', sum('added')],
      Changed: ['blue', sum('changed')],
      Unchanged: ['grey', sum('unchanged')],
      Older: ['purple', sum('stale')],
      Withdrawn: ['amber', sum('withdrawn')],
      Invalid: ['red', sum('invalid')],
    },
  );
}

/** Links each feed to its imports. */
export function freshness(heading: string, feeds: readonly ImportFeed[], nowMs: number): Html {
  return ui.section(
    heading,
    ui.table(
      'Freshness by organisation and source',
      feeds,
      {
        Kind: ({ kind, orgName }) =>
          ui.linked(`/imports?${new URLSearchParams({ kind, org: orgName ?? '' })}`, kind),
        Organisation: ({ orgName }) => (orgName === null ? '' : ui.organisationLink(orgName)),
        Source: ({ source }) => (source === null ? '' : html`<bdi>${source}</bdi>`),
        'Last success': ({ lastSuccessMs }) => ui.ago(lastSuccessMs, nowMs),
        'Last import': ({ lastEndedMs }) => ui.ago(lastEndedMs, nowMs),
        Outcome: ({ lastOutcome }) => outcomeTag(lastOutcome),
      },
      'No imports.',
    ),
    ui.source('offerbook doctor', 'offerbook_import_last_success_timestamp_seconds'),
  );
}

function importTable(entries: readonly ImportEntry[], nowMs: number): Html {
  return ui.table(
    'Imports, newest first',
    entries,
    {
      Import: ({ id }) => ui.linked(`/imports/${id}`, String(id)),
      Began: ({ beganAtMs }) => ui.ago(beganAtMs, nowMs),
      Kind: ({ kind }) => kind,
      Organisation: ({ orgName }) => (orgName === null ? '' : ui.organisationLink(orgName)),
      Outcome: ({ outcome }) => outcomeTag(outcome),
      Rows: ({ counts }) => ui.number(counts.read),
      Added: ({ counts }) => ui.counter(counts.added),
      Changed: ({ counts }) => ui.counter(counts.changed),
      Withdrawn: ({ counts }) => ui.counter(counts.withdrawn),
      Invalid: ({ counts }) => ui.counter(counts.invalid),
      File: ({ fileName }) => html`<bdi>${fileName}</bdi>`,
    },
    'No imports.',
  );
}

export function outcomeTag(outcome: ImportOutcome): Html {
  return ui.tag(outcome, outcome === 'done' ? 'good' : outcome === 'begun' ? 'plain' : 'bad');
}
