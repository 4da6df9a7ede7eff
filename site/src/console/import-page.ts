// One import: its details, row counts and problems.

import { html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import {
  ago,
  counter,
  facts,
  linked,
  moment,
  number,
  organisationLink,
  section,
  shownOf,
  source,
  table,
} from './elements.ts';
import { type ListedImport, outcomeTag } from './imports-page.ts';

interface ShownImport extends ListedImport {
  /** Why nothing was imported; null after a successful import. */
  readonly reason: string | null;
  readonly by: string;
  readonly source: string | null;
  readonly fileDigest: string | null;
  /** Version of the importing program. */
  readonly version: string;
  readonly endedAtMs: number | null;
  /** The first problems; `problemCount` counts all. */
  readonly problems: readonly {
    readonly line: number;
    readonly item?: number | undefined;
    readonly field: string;
    readonly reason: string;
  }[];
  readonly problemCount: number;
}

const COUNTS = [
  ['read', 'Read'],
  ['added', 'Added'],
  ['changed', 'Changed'],
  ['unchanged', 'Unchanged'],
  ['stale', 'Older'],
  ['withdrawn', 'Withdrawn'],
  ['invalid', 'Invalid'],
] as const;

export function importPage(entry: ShownImport, nowMs: number): ConsolePage {
  const { counts, problems, problemCount, beganAtMs, endedAtMs } = entry;
  return {
    title: `Import ${entry.id}`,
    main: html`<nav aria-label="Back"><a class="back" href="/imports">All imports</a></nav>
<div class="panel stack${entry.reason === null ? '' : ' failure'}"><p>${outcomeTag(entry.outcome)} ${entry.kind}${entry.orgName === null ? undefined : html` of <bdi>${entry.orgName}</bdi>`}, ${ago(beganAtMs, nowMs)}</p>
${entry.reason === null ? undefined : html`<p><bdi>${entry.reason}</bdi></p>`}</div>
${
  problemCount === 0
    ? undefined
    : section(
        'Problems',
        table('Problems', problems, {
          Line: ({ line }) => number(line),
          Item: ({ item }) => (item === undefined ? '' : number(item)),
          Field: ({ field }) => html`<code>${field}</code>`,
          Reason: ({ reason }) => html`<bdi>${reason}</bdi>`,
        }),
        shownOf('first', problems.length, problemCount),
      )
}
${section(
  'Rows',
  facts(
    COUNTS.map(([name, label]) => [label, counter(counts[name])]),
    'counters panel',
  ),
)}
${section(
  'Details',
  facts(
    [
      ['Kind', linked(`/imports?kind=${entry.kind}`, entry.kind)],
      ['Organisation', entry.orgName === null ? 'none' : organisationLink(entry.orgName, '/imports')],
      ['Began (UTC)', moment(beganAtMs)],
      ['Duration', endedAtMs === null ? 'unknown' : `${((endedAtMs - beganAtMs) / 1_000).toFixed(3)} s`],
      ['Run by', html`<bdi>${entry.by}</bdi>`],
      ['Source', html`<bdi>${entry.source ?? 'not given'}</bdi>`],
      ['File', html`<bdi>${entry.fileName}</bdi>`],
      ['SHA-256', html`<code>${entry.fileDigest ?? 'unknown'}</code>`],
      ['Version', entry.version],
    ],
    'wide panel',
  ),
)}
${source(`offerbook imports show ${entry.id}`)}`,
  };
}

export const NO_SUCH_IMPORT: ConsolePage = {
  status: 404,
  title: 'No such import',
  main: html`<p class="lead">The import log has no such entry. It keeps entries for 400 days. <a href="/imports">All imports</a></p>`,
};
