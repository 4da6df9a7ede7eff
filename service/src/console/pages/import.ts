// One import, with its problems.

import { html } from '@offerbook/site/html.ts';
import type { ConsolePage, MakePage } from '../console-page.ts';
import { facts, number, section, shownOf, since, source, table } from '../elements.ts';
import { outcomeTag } from './imports.ts';

export const importPage: MakePage = async ({ node, stores, parameters }) => {
  const id = /^\d{1,9}$/.test(parameters.id ?? '') ? Number(parameters.id) : undefined;
  const entry = id === undefined ? undefined : await (await stores()).imports.find(id);
  if (entry === undefined) return noSuchImport();
  const { counts, problems, problemCount, beganAtMs, endedAtMs } = entry;
  return {
    title: `Import ${entry.id}`,
    main: html`<nav aria-label="Way back"><a class="back" href="/imports">All imports</a></nav>
${section(
  'What it was',
  facts([
    [
      'Outcome',
      html`${outcomeTag(entry.outcome)}${entry.reason === null ? undefined : html` <bdi>${entry.reason}</bdi>`}`,
    ],
    ['Kind', entry.kind],
    ['Organisation', html`<bdi>${entry.orgName ?? 'none'}</bdi>`],
    ['Began', since(beganAtMs, node.nowMs)],
    ['Took', endedAtMs === null ? 'not known' : `${((endedAtMs - beganAtMs) / 1_000).toFixed(3)} s`],
    ['By', html`<bdi>${entry.by}</bdi>`],
    ['Source', html`<bdi>${entry.source ?? 'not given'}</bdi>`],
    ['File', html`<bdi>${entry.fileName}</bdi>`],
    ['SHA-256', html`<code>${entry.fileDigest ?? 'not known'}</code>`],
    ['Version', entry.version],
  ]),
)}
${section('Rows', facts(Object.entries(counts).map(([name, count]) => [COUNT_WORDS[name as keyof typeof counts], number(count)])))}
${section(
  'Problems',
  table(
    'Problems',
    ['Line', 'Item', 'Field', 'Reason'],
    problems.map(({ line, item, field, reason }) => [
      number(line),
      item === undefined ? '' : number(item),
      html`<code>${field}</code>`,
      html`<bdi>${reason}</bdi>`,
    ]),
    'None.',
  ),
  shownOf('first', problems.length, problemCount),
)}
${source(`offerbook imports show ${entry.id}`)}`,
  };
};

const COUNT_WORDS = {
  read: 'Read',
  added: 'Added',
  changed: 'Changed',
  unchanged: 'Unchanged',
  stale: 'Older than stored',
  withdrawn: 'Withdrawn',
  invalid: 'Refused',
} as const;

function noSuchImport(): ConsolePage {
  return {
    status: 404,
    title: 'No such import',
    main: html`<p class="lead">It is not in the book, in which imports stay for 400 days. <a href="/imports">All imports</a></p>`,
  };
}
