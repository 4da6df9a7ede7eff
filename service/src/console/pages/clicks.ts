// Clicks: since the node started, per day, by organisation and by retailer.

import * as ui from '@offerbook/site/console/elements.ts';
import { type Html, html } from '@offerbook/site/html.ts';
import type { ClickCount } from '../../domain/click.ts';
import type { ClickState } from '../../http/metrics.ts';
import { sumClicks } from '../counts/click-totals.ts';
import type { MakePage } from '../page-context.ts';

const ROWS_MAX = 50;
const COMMAND = 'offerbook activations totals --json';

export const clicksPage: MakePage = async ({ node, stores: openStores, catalogue, clicks, explorer }) => {
  const stores = await openStores();
  const days = await clicks.count(stores.clicks, node.nowMs);
  const all = days.flatMap(({ counts }) => counts);
  const names = new Map((await stores.organisations.list()).map(({ id, name }) => [id, name]));
  const { retailers } = await catalogue.read(stores);
  const organisations = Map.groupBy(all, ({ orgId }) => names.get(orgId) ?? `organisation ${orgId}`);
  // Retailers with the same name are different groups.
  const byRetailer = Map.groupBy(all, ({ retailerId }) => retailerId);
  return {
    title: 'Clicks',
    main: html`${ui.section('Since the node started', nodeClicks(node.state.clicks))}
${ui.untitled(
  ui.plot(
    'lines',
    `Clicks per day, last ${days.length} days`,
    days.map(({ dayMs, counts }) => ({ dayMs, ...sumClicks(counts) })),
    { 'Day (UTC)': ({ dayMs }) => ui.day(dayMs) },
    {
      Clicks: ['blue', ({ clicks }) => ui.number(clicks)],
      Tracked: ['purple', ({ tracked }) => ui.number(tracked)],
      'With a sale': ['green', ({ sold }) => ui.number(sold)],
    },
  ),
  ui.source(COMMAND),
)}
${ui.section(
  'By organisation',
  groupTable(
    'Organisation',
    [...organisations].map(([name, counts]) => ({ name, shown: ui.organisationLink(name), counts })),
  ),
  ui.source(COMMAND),
)}
${ui.section(
  'By retailer',
  groupTable(
    'Retailer',
    [...byRetailer].map(([id, counts]) => {
      const name = retailers.get(id) ?? id;
      const shown = html`<bdi>${name}</bdi>`;
      const isLinked = explorer !== undefined && retailers.has(id);
      return { name, shown: isLinked ? ui.linked(`${explorer}/?retailer=${id}`, shown) : shown, counts };
    }),
  ),
  ui.source(COMMAND),
)}`,
  };
};

function nodeClicks(node: ClickState | undefined): Html {
  if (node === undefined) return html`<p class="muted">Activation is off on this node.</p>`;
  const tally = Object.entries(node.tally).map(([outcome, count]) => [
    capitalised(outcome),
    ui.counter(count),
  ]);
  const facts = { ...Object.fromEntries(tally), Spooled: ui.counter(node.spooledCount) };
  return html`${ui.facts(facts)}${ui.source('offerbook_clicks_total', 'offerbook_clicks_spooled_total')}`;
}

function capitalised(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}

interface ClickGroup {
  readonly name: string;
  /** The name with its link. */
  readonly shown: Html;
  readonly counts: readonly ClickCount[];
}

function groupTable(what: string, groups: readonly ClickGroup[]): Html {
  const sorted = groups
    .map(({ counts, ...group }) => ({ ...group, ...sumClicks(counts) }))
    .toSorted((a, b) => b.clicks - a.clicks || (a.name < b.name ? -1 : 1));
  return html`${ui.table(
    `Clicks by ${what.toLowerCase()}`,
    sorted.slice(0, ROWS_MAX),
    {
      [what]: ({ shown }) => shown,
      Clicks: ({ clicks }) => ui.number(clicks),
      Tracked: ({ tracked, clicks }) => ui.share(tracked, clicks),
      'With a sale': ({ sold }) => ui.number(sold),
      'Share with a sale': ({ sold, clicks }) => ui.shareBar(sold, clicks),
    },
    'No clicks.',
  )}${ui.shownOf('first', ROWS_MAX, groups.length)}`;
}
