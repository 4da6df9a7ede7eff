// What did the imports do?

import { type Html, html } from '@offerbook/site/html.ts';
import {
  IMPORT_KINDS,
  IMPORT_OUTCOMES,
  type ImportEntry,
  type ImportFeed,
  type ImportOutcome,
} from '../../domain/books.ts';
import type { MakePage } from '../console-page.ts';
import {
  choice,
  command,
  day,
  moment,
  number,
  plot,
  section,
  shellWord,
  since,
  source,
  table,
  tag,
} from '../elements.ts';

const LIST_MAX = 100;
const DAY_MS = 86_400_000;
const DAYS = 30;

export const importsPage: MakePage = async ({ node, stores: openStores, query }) => {
  const stores = await openStores();
  const organisations = await stores.organisations.list();
  const kind = IMPORT_KINDS.find((one) => one === query.get('kind'));
  const outcome = IMPORT_OUTCOMES.find((one) => one === query.get('outcome'));
  const org = organisations.find(({ publicId }) => publicId === query.get('org'));
  const entries = await stores.imports.list({ kind, outcome, orgId: org?.id, limit: LIST_MAX });
  const days = await stores.imports.days(Math.floor(node.nowMs / DAY_MS - DAYS + 1) * DAY_MS);
  const { feeds } = await stores.imports.totals();
  const byDay = [...Map.groupBy(days, ({ dayMs }) => dayMs)];
  const listCommand = [
    'offerbook imports list',
    ...(kind === undefined ? [] : [`--kind ${kind}`]),
    ...(org === undefined ? [] : [`--org ${shellWord(org.name)}`]),
  ].join(' ');
  return {
    title: 'Imports',
    main: html`${section(
      `Rows by day, over ${DAYS} days`,
      plot(
        'bars',
        'Rows by day',
        ['Day (UTC)', 'Added', 'Changed', 'Unchanged', 'Older', 'Withdrawn', 'Refused'],
        byDay.map(([dayMs, group]) => [
          day(dayMs),
          ...(['added', 'changed', 'unchanged', 'stale', 'withdrawn', 'invalid'] as const).map((name) =>
            number(group.reduce((sum, { counts }) => sum + counts[name], 0)),
          ),
        ]),
      ),
      source('offerbook imports list --json', 'offerbook_imports_total'),
    )}
${section(
  'Freshness',
  feedTable(feeds, node.nowMs),
  source('offerbook doctor', 'offerbook_import_last_success_timestamp_seconds'),
)}
${section(
  'The newest',
  html`<form class="filter" method="get" action="/imports">
${choice('Kind', 'kind', [['', 'All'], ...IMPORT_KINDS.map((one) => [one, one] as const)], kind ?? '')}
${choice('Outcome', 'outcome', [['', 'All'], ...IMPORT_OUTCOMES.map((one) => [one, one] as const)], outcome ?? '')}
${choice('Organisation', 'org', [['', 'All'], ...organisations.map(({ publicId, name }) => [publicId, name] as const)], org?.publicId ?? '')}
<button type="submit">Show</button></form>`,
  importTable(entries),
  entries.length === LIST_MAX
    ? html`<p class="muted">The newest ${number(LIST_MAX)}; the command has more with <code>--limit</code>.</p>`
    : undefined,
  source(listCommand),
  command(
    'Try an import without changing anything:',
    'offerbook import transactions FILE --org NAME --dry-run',
  ),
)}`,
  };
};

function feedTable(feeds: readonly ImportFeed[], nowMs: number): Html {
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

function importTable(entries: readonly ImportEntry[]): Html {
  return table(
    'Imports, the newest first',
    [
      'Began (UTC)',
      'Kind',
      'Organisation',
      'Outcome',
      'Rows',
      'Added',
      'Changed',
      'Withdrawn',
      'Refused',
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

export function outcomeTag(outcome: ImportOutcome): Html {
  return tag(outcome, outcome === 'done' ? 'good' : outcome === 'begun' ? 'plain' : 'bad');
}
