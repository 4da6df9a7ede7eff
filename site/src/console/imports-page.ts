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
  return plot(
    'bars',
    `Rows per day, last ${daysMax} days`,
    'Day (UTC)',
    [
      ['Added', 'green'],
      ['Changed', 'blue'],
      ['Unchanged', 'grey'],
      ['Older', 'purple'],
      ['Withdrawn', 'amber'],
      ['Invalid', 'red'],
    ],
    [...Map.groupBy(days, ({ dayMs }) => dayMs)].map(([dayMs, group]) => [
      day(dayMs),
      ...(['added', 'changed', 'unchanged', 'stale', 'withdrawn', 'invalid'] as const).map((name) =>
        number(group.reduce((sum, { counts }) => sum + counts[name], 0)),
      ),
    ]),
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
    ['Kind', 'Organisation', 'Source', 'Last success', 'Last import', 'Outcome'],
    feeds.map(({ kind, orgName, source: name, lastSuccessMs, lastOutcome, lastEndedMs }) => [
      linked(`/imports?${new URLSearchParams({ kind, org: orgName ?? '' })}`, kind),
      orgName === null ? '' : organisationLink(orgName),
      name === null ? '' : html`<bdi>${name}</bdi>`,
      ago(lastSuccessMs, nowMs),
      ago(lastEndedMs, nowMs),
      outcomeTag(lastOutcome),
    ]),
    'No imports.',
  );
}

function importTable(entries: readonly ListedImport[], nowMs: number): Html {
  return table(
    'Imports, newest first',
    [
      ...['Import', 'Began', 'Kind', 'Organisation', 'Outcome'],
      ...['Rows', 'Added', 'Changed', 'Withdrawn', 'Invalid', 'File'],
    ],
    entries.map((entry) => [
      linked(`/imports/${entry.id}`, String(entry.id)),
      ago(entry.beganAtMs, nowMs),
      entry.kind,
      entry.orgName === null ? '' : organisationLink(entry.orgName),
      outcomeTag(entry.outcome),
      number(entry.counts.read),
      counter(entry.counts.added),
      counter(entry.counts.changed),
      counter(entry.counts.withdrawn),
      counter(entry.counts.invalid),
      html`<bdi>${entry.fileName}</bdi>`,
    ]),
    'No imports.',
  );
}

export function outcomeTag(outcome: Outcome): Html {
  return tag(outcome, outcome === 'done' ? 'good' : outcome === 'begun' ? 'plain' : 'bad');
}
