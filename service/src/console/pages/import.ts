// One import: its details, row counts and problems.

import * as ui from '@offerbook/site/console/elements.ts';
import { html } from '@offerbook/site/html.ts';
import type { MakePage } from '../page-context.ts';
import { outcomeTag } from './imports.ts';

const COUNTS = [
  ['read', 'Read'],
  ['added', 'Added'],
  ['changed', 'Changed'],
  ['unchanged', 'Unchanged'],
  ['stale', 'Older'],
  ['withdrawn', 'Withdrawn'],
  ['invalid', 'Invalid'],
] as const;

export const importPage: MakePage = async ({ node: { nowMs }, stores, parameters }) => {
  const id = /^\d{1,9}$/.test(parameters.id ?? '') ? Number(parameters.id) : undefined;
  const entry = id === undefined ? undefined : await (await stores()).imports.find(id);
  if (entry === undefined)
    return {
      status: 404,
      title: 'No such import',
      main: html`<p class="lead">The import log has no such entry. It keeps entries for 400 days. <a href="/imports">All imports</a></p>`,
    };
  const { counts, problems, problemCount, beganAtMs, endedAtMs } = entry;
  return {
    title: `Import ${entry.id}`,
    main: html`<nav aria-label="Back"><a class="back" href="/imports">All imports</a></nav>
<div class="panel stack${entry.reason === null ? '' : ' failure'}"><p>${outcomeTag(entry.outcome)} ${entry.kind}${entry.orgName === null ? undefined : html` of <bdi>${entry.orgName}</bdi>`}, ${ui.ago(beganAtMs, nowMs)}</p>
${entry.reason === null ? undefined : html`<p><bdi>${entry.reason}</bdi></p>`}</div>
${
  problemCount === 0
    ? undefined
    : ui.section(
        'Problems',
        ui.table('Problems', problems, {
          Line: ({ line }) => ui.number(line),
          Item: ({ item }) => (item === undefined ? '' : ui.number(item)),
          Field: ({ field }) => html`<code>${field}</code>`,
          Reason: ({ reason }) => html`<bdi>${reason}</bdi>`,
        }),
        ui.shownOf('first', problems.length, problemCount),
      )
}
${ui.section(
  'Rows',
  ui.facts(
    Object.fromEntries(COUNTS.map(([name, label]) => [label, ui.counter(counts[name])])),
    'counters panel',
  ),
)}
${ui.section(
  'Details',
  ui.facts(
    {
      Kind: ui.linked(`/imports?kind=${entry.kind}`, entry.kind),
      Organisation: entry.orgName === null ? 'none' : ui.organisationLink(entry.orgName, '/imports'),
      'Began (UTC)': ui.moment(beganAtMs),
      Duration: endedAtMs === null ? 'unknown' : `${((endedAtMs - beganAtMs) / 1_000).toFixed(3)} s`,
      'Run by': html`<bdi>${entry.by}</bdi>`,
      Source: html`<bdi>${entry.source ?? 'not given'}</bdi>`,
      File: html`<bdi>${entry.fileName}</bdi>`,
      'SHA-256': html`<code>${entry.fileDigest ?? 'unknown'}</code>`,
      Version: entry.version,
    },
    'wide panel',
  ),
)}
${ui.source(`offerbook imports show ${entry.id}`)}`,
  };
};
