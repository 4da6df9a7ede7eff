// Imports: rows per day, the freshness of each feed, and the newest entries of the import log.

import { type Html, html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import {
  ago,
  choice,
  command,
  commands,
  counter,
  day,
  linked,
  number,
  type OrganisationOption,
  organisationChoice,
  organisationLink,
  plot,
  section,
  shellWord,
  source,
  table,
  tag,
  untitled,
} from './elements.ts';

type Outcome = 'begun' | 'done' | 'refused' | 'failed' | 'unfinished';

export interface ImportCounts {
  readonly read: number;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Rows older than the stored version. */
  readonly stale: number;
  readonly withdrawn: number;
  readonly invalid: number;
}

export interface ListedImport {
  readonly id: number;
  readonly kind: string;
  /** Null if the import does not belong to an organisation. */
  readonly orgName: string | null;
  readonly outcome: Outcome;
  readonly beganAtMs: number;
  readonly fileName: string;
  readonly counts: ImportCounts;
}

export interface FeedFreshness {
  readonly kind: string;
  readonly orgName: string | null;
  readonly source: string | null;
  readonly lastSuccessMs: number | null;
  readonly lastOutcome: Outcome;
  readonly lastEndedMs: number;
}

interface ImportsView {
  readonly nowMs: number;
  /** Number of days that `days` covers. */
  readonly daysMax: number;
  /** Days with imports, oldest first. A day can have several entries. */
  readonly days: readonly { readonly dayMs: number; readonly counts: ImportCounts }[];
  readonly feeds: readonly FeedFreshness[];
  /** Newest first, at most `entriesMax`. */
  readonly entries: readonly ListedImport[];
  readonly entriesMax: number;
  readonly filter: ImportFilter;
}

/** Filter options and the current selection. */
interface ImportFilter {
  readonly kinds: readonly string[];
  readonly outcomes: readonly string[];
  readonly organisations: readonly OrganisationOption[];
  readonly kind: string | undefined;
  readonly outcome: string | undefined;
  readonly org: OrganisationOption | undefined;
}

export function importsPage(view: ImportsView): ConsolePage {
  const { nowMs, feeds, entries, entriesMax, filter } = view;
  return {
    title: 'Imports',
    main: html`${untitled(dayPlot(view), source('offerbook imports list --json', 'offerbook_imports_total'))}
${section(
  'Freshness',
  feedTable(feeds, nowMs),
  source('offerbook doctor', 'offerbook_import_last_success_timestamp_seconds'),
)}
${section(
  'Newest imports',
  filterForm(filter),
  importTable(entries, nowMs),
  entries.length === entriesMax
    ? html`<p class="muted">Only the newest ${number(entriesMax)} are shown. The command lists more with <code>--limit</code>.</p>`
    : undefined,
  source(listCommand(filter)),
  commands(
    command(
      'Preview an import without changing anything:',
      'offerbook import transactions FILE --org NAME --dry-run',
    ),
  ),
)}`,
  };
}

function dayPlot({ days, daysMax }: ImportsView): Html {
  type Group = readonly [dayMs: number, entries: ImportsView['days']];
  const sum = (name: keyof ImportCounts) => (group: Group) =>
    number(group[1].reduce((total, { counts }) => total + counts[name], 0));
  return plot<Group>(
    'bars',
    `Rows per day, last ${daysMax} days`,
    [...Map.groupBy(days, ({ dayMs }) => dayMs)],
    { 'Day (UTC)': ([dayMs]) => day(dayMs) },
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

function filterForm({ kinds, outcomes, organisations, kind, outcome, org }: ImportFilter): Html {
  return html`<form class="filter row" method="get" action="/imports">
${choice('Kind', 'kind', allOr(kinds), kind ?? '')}
${choice('Outcome', 'outcome', allOr(outcomes), outcome ?? '')}
${organisationChoice(organisations, org)}
<button type="submit">Show</button></form>`;
}

function allOr(values: readonly string[]): [value: string, text: string][] {
  return [['', 'All'], ...values.map((value): [string, string] => [value, value])];
}

function listCommand({ kind, org }: ImportFilter): string {
  return [
    'offerbook imports list',
    ...(kind === undefined ? [] : [`--kind ${kind}`]),
    ...(org === undefined ? [] : [`--org ${shellWord(org.name)}`]),
  ].join(' ');
}

/** Links each feed to its imports. */
export function feedTable(feeds: readonly FeedFreshness[], nowMs: number): Html {
  return table(
    'Freshness by organisation and source',
    feeds,
    {
      Kind: ({ kind, orgName }) =>
        linked(`/imports?${new URLSearchParams({ kind, org: orgName ?? '' })}`, kind),
      Organisation: ({ orgName }) => (orgName === null ? '' : organisationLink(orgName)),
      Source: ({ source: name }) => (name === null ? '' : html`<bdi>${name}</bdi>`),
      'Last success': ({ lastSuccessMs }) => ago(lastSuccessMs, nowMs),
      'Last import': ({ lastEndedMs }) => ago(lastEndedMs, nowMs),
      Outcome: ({ lastOutcome }) => outcomeTag(lastOutcome),
    },
    'No imports.',
  );
}

function importTable(entries: readonly ListedImport[], nowMs: number): Html {
  return table(
    'Imports, newest first',
    entries,
    {
      Import: ({ id }) => linked(`/imports/${id}`, String(id)),
      Began: ({ beganAtMs }) => ago(beganAtMs, nowMs),
      Kind: ({ kind }) => kind,
      Organisation: ({ orgName }) => (orgName === null ? '' : organisationLink(orgName)),
      Outcome: ({ outcome }) => outcomeTag(outcome),
      Rows: ({ counts }) => number(counts.read),
      Added: ({ counts }) => counter(counts.added),
      Changed: ({ counts }) => counter(counts.changed),
      Withdrawn: ({ counts }) => counter(counts.withdrawn),
      Invalid: ({ counts }) => counter(counts.invalid),
      File: ({ fileName }) => html`<bdi>${fileName}</bdi>`,
    },
    'No imports.',
  );
}

export function outcomeTag(outcome: Outcome): Html {
  return tag(outcome, outcome === 'done' ? 'good' : outcome === 'begun' ? 'plain' : 'bad');
}
