// Clicks: since the node started, per day, by organisation and by retailer.

import { type Html, html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import {
  counter,
  day,
  facts,
  linked,
  number,
  organisationLink,
  plot,
  section,
  share,
  shareBar,
  shownOf,
  source,
  table,
  untitled,
} from './elements.ts';

const ROWS_MAX = 50;
const COMMAND = 'offerbook activations totals --json';

export interface ClicksView {
  /** Clicks that this node has handled since it started; undefined if activation is off. */
  readonly node: { readonly tally: object; readonly spooledCount: number } | undefined;
  /** Oldest day first. */
  readonly days: readonly (ClickFigures & { readonly dayMs: number })[];
  /** Sorted by number of clicks, descending, like the retailers below. */
  readonly organisations: readonly NamedClicks[];
  /** With the URL of the retailer's page in the explorer, if there is one. */
  readonly retailers: readonly (NamedClicks & { readonly url: string | undefined })[];
}

export interface ClickFigures {
  readonly clicks: number;
  readonly tracked: number;
  /** Clicks that led to a sale. */
  readonly sold: number;
}

export type NamedClicks = ClickFigures & { readonly name: string };

export function clicksPage({ node, days, organisations, retailers }: ClicksView): ConsolePage {
  return {
    title: 'Clicks',
    main: html`${section('Since the node started', nodeClicks(node))}
${dayPlot(days)}
${section(
  'By organisation',
  groupTable('Organisation', organisations, ({ name }) => organisationLink(name)),
  source(COMMAND),
)}
${section('By retailer', groupTable('Retailer', retailers, retailerName), source(COMMAND))}`,
  };
}

function nodeClicks(node: ClicksView['node']): Html {
  if (node === undefined) return html`<p class="muted">Activation is off on this node.</p>`;
  return html`${facts([
    ...Object.entries(node.tally).map(([outcome, count]) => [capitalised(outcome), counter(count)] as const),
    ['Spooled', counter(node.spooledCount)],
  ])}${source('offerbook_clicks_total', 'offerbook_clicks_spooled_total')}`;
}

function capitalised(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}

function dayPlot(days: ClicksView['days']): Html {
  return untitled(
    plot(
      'lines',
      `Clicks per day, last ${days.length} days`,
      days,
      { 'Day (UTC)': ({ dayMs }) => day(dayMs) },
      {
        Clicks: ['blue', ({ clicks }) => number(clicks)],
        Tracked: ['purple', ({ tracked }) => number(tracked)],
        'With a sale': ['green', ({ sold }) => number(sold)],
      },
    ),
    source(COMMAND),
  );
}

function retailerName({ name, url }: ClicksView['retailers'][number]): Html {
  const shown = html`<bdi>${name}</bdi>`;
  return url === undefined ? shown : linked(url, shown);
}

function groupTable<Group extends NamedClicks>(
  what: string,
  groups: readonly Group[],
  nameOf: (group: Group) => Html,
): Html {
  const shown = groups.slice(0, ROWS_MAX);
  return html`${table(
    `Clicks by ${what.toLowerCase()}`,
    shown,
    {
      [what]: nameOf,
      Clicks: ({ clicks }) => number(clicks),
      Tracked: ({ tracked, clicks }) => share(tracked, clicks),
      'With a sale': ({ sold }) => number(sold),
      'Share with a sale': ({ sold, clicks }) => shareBar(sold, clicks),
    },
    'No clicks.',
  )}${shownOf('first', shown.length, groups.length)}`;
}
