// Imports: rows by day, how fresh each feed is, and the newest entries of the import log.

import { type Html, html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import {
  choice,
  command,
  day,
  moment,
  number,
  type OrganisationOption,
  organisationChoice,
  plot,
  section,
  shellWord,
  since,
  source,
  table,
  tag,
} from './elements.ts';

type Outcome = 'begun' | 'done' | 'refused' | 'failed' | 'unfinished';

export interface ImportCounts {
  readonly read: number;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Rows older than what is stored. */
  readonly stale: number;
  readonly withdrawn: number;
  readonly invalid: number;
}

/** An import, as the list shows it. */
export interface ListedImport {
  readonly id: number;
  readonly kind: string;
  /** Null for imports that belong to no organisation. */
  readonly orgName: string | null;
  readonly outcome: Outcome;
  readonly beganAtMs: number;
  readonly fileName: string;
  readonly counts: ImportCounts;
}

/** How fresh the data of one feed is. */
export interface FeedFreshness {
  readonly kind: string;
  readonly orgName: string | null;
  readonly source: string | null;
  readonly lastSuccessMs: number | null;
  readonly lastOutcome: Outcome;
  readonly lastEndedMs: number;
}

export interface ImportsView {
  readonly nowMs: number;
  /** Number of days that `days` covers. */
  readonly daysMax: number;
  /** Days with imports, oldest first. Several entries of one day are added up. */
  readonly days: readonly { readonly dayMs: number; readonly counts: ImportCounts }[];
  readonly feeds: readonly FeedFreshness[];
  /** Newest first, at most `entriesMax`. */
  readonly entries: readonly ListedImport[];
  readonly entriesMax: number;
  readonly filter: ImportFilter;
}

/** What the list can be filtered by, and what it is filtered by now. */
interface ImportFilter {
  readonly kinds: readonly string[];
  readonly outcomes: readonly string[];
  readonly organisations: readonly OrganisationOption[];
  readonly kind: string | undefined;
  readonly outcome: string | undefined;
  readonly org: OrganisationOption | undefined;
}

export function importsPage(view: ImportsView): ConsolePage {
  const { nowMs, daysMax, feeds, entries, entriesMax, filter } = view;
  return {
    title: 'Imports',
    main: html`${section(
      `Rows by day, over ${daysMax} days`,
      dayPlot(view),
      source('offerbook imports list --json', 'offerbook_imports_total'),
    )}
${section(
  'Freshness',
  feedTable(feeds, nowMs),
  source('offerbook doctor', 'offerbook_import_last_success_timestamp_seconds'),
)}
${section(
  'Newest imports',
  filterForm(filter),
  importTable(entries),
  entries.length === entriesMax
    ? html`<p class="muted">The newest ${number(entriesMax)}. The command lists more with <code>--limit</code>.</p>`
    : undefined,
  source(listCommand(filter)),
  command(
    'Try an import without changing anything:',
    'offerbook import transactions FILE --org NAME --dry-run',
  ),
)}`,
  };
}

function dayPlot({ days }: ImportsView): Html {
  return plot(
    'bars',
    'Rows by day',
    ['Day (UTC)', 'Added', 'Changed', 'Unchanged', 'Older', 'Withdrawn', 'Invalid'],
    [...Map.groupBy(days, ({ dayMs }) => dayMs)].map(([dayMs, group]) => [
      day(dayMs),
      ...(['added', 'changed', 'unchanged', 'stale', 'withdrawn', 'invalid'] as const).map((name) =>
        number(group.reduce((sum, { counts }) => sum + counts[name], 0)),
      ),
    ]),
  );
}

function filterForm({ kinds, outcomes, organisations, kind, outcome, org }: ImportFilter): Html {
  return html`<form class="filter" method="get" action="/imports">
${choice('Kind', 'kind', [['', 'All'], ...kinds.map((one) => [one, one] as const)], kind ?? '')}
${choice('Outcome', 'outcome', [['', 'All'], ...outcomes.map((one) => [one, one] as const)], outcome ?? '')}
${organisationChoice(organisations, org)}
<button type="submit">Show</button></form>`;
}

function listCommand({ kind, org }: ImportFilter): string {
  return [
    'offerbook imports list',
    ...(kind === undefined ? [] : [`--kind ${kind}`]),
    ...(org === undefined ? [] : [`--org ${shellWord(org.name)}`]),
  ].join(' ');
}

function feedTable(feeds: readonly FeedFreshness[], nowMs: number): Html {
  return table(
    'Freshness by organisation and source',
    ['Kind', 'Organisation', 'Source', 'Last success (UTC)', 'Last import (UTC)', 'Outcome'],
    feeds.map(({ kind, orgName, source: name, lastSuccessMs, lastOutcome, lastEndedMs }) => [
      kind,
      html`<bdi>${orgName ?? ''}</bdi>`,
      html`<bdi>${name ?? ''}</bdi>`,
      since(lastSuccessMs, nowMs),
      since(lastEndedMs, nowMs),
      outcomeTag(lastOutcome),
    ]),
    'No imports.',
  );
}

function importTable(entries: readonly ListedImport[]): Html {
  return table(
    'Imports, newest first',
    [
      'Began (UTC)',
      'Kind',
      'Organisation',
      'Outcome',
      'Rows',
      'Added',
      'Changed',
      'Withdrawn',
      'Invalid',
      'File',
    ],
    entries.map((entry) => [
      html`<a href="/imports/${entry.id}">${moment(entry.beganAtMs)}</a>`,
      entry.kind,
      html`<bdi>${entry.orgName ?? ''}</bdi>`,
      outcomeTag(entry.outcome),
      number(entry.counts.read),
      number(entry.counts.added),
      number(entry.counts.changed),
      number(entry.counts.withdrawn),
      number(entry.counts.invalid),
      html`<bdi>${entry.fileName}</bdi>`,
    ]),
    'No imports.',
  );
}

export function outcomeTag(outcome: Outcome): Html {
  return tag(outcome, outcome === 'done' ? 'good' : outcome === 'begun' ? 'plain' : 'bad');
}
