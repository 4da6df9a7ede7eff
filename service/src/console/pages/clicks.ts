// Do clicks arrive?

import { type Html, html } from '@offerbook/site/html.ts';
import type { ClickCount } from '../../domain/click.ts';
import type { MakePage, PageContext } from '../console-page.ts';
import { CLICK_DAYS, type ClickDay, sumClicks } from '../counts/click-totals.ts';
import {
  bar,
  type Cell,
  day,
  facts,
  number,
  plot,
  section,
  share,
  shownOf,
  since,
  source,
  table,
} from '../elements.ts';

const ROWS_MAX = 50;
const COMMAND = 'offerbook activations totals --json';

export const clicksPage: MakePage = async (context) => {
  const { node, stores: openStores, counts } = context;
  const stores = await openStores();
  const kept = await counts.clicks.read();
  const days = kept.last?.value;
  return {
    title: 'Clicks',
    main: html`${section('Since the node started', nodeClicks(context))}
${
  kept.last === undefined
    ? html`<p class="notice" role="status">The clicks are being counted for the first time since the node started. Open this page again in a moment.</p>`
    : html`<p class="muted" role="status">What follows was counted ${since(kept.last.countedAtMs, node.nowMs)}.</p>`
}
${days === undefined ? undefined : daySection(days)}
${days === undefined ? undefined : await groupSections(context, days, await stores.organisations.list())}`,
  };
};

function nodeClicks({ node }: PageContext): Html {
  const { clicks } = node.state;
  if (clicks === undefined) return html`<p class="muted">Activation is turned off on this node.</p>`;
  return html`${facts([
    ...Object.entries(clicks.tally).map(([outcome, count]) => [outcome, number(count)] as const),
    ['to the spool', number(clicks.spooledCount)],
  ])}${source('offerbook_clicks_total', 'offerbook_clicks_spooled_total')}`;
}

function daySection(days: readonly ClickDay[]): Html {
  return section(
    `By day, over ${CLICK_DAYS} days`,
    plot(
      'lines',
      'Clicks by day',
      ['Day (UTC)', 'Clicks', 'Tracked', 'With a sale'],
      days.map(({ dayMs, counts }) => {
        const { clicks, tracked, sold } = sumClicks(counts);
        return [day(dayMs), number(clicks), number(tracked), number(sold)];
      }),
    ),
    source(COMMAND),
  );
}

async function groupSections(
  { stores, counts }: PageContext,
  days: readonly ClickDay[],
  organisations: readonly { readonly id: number; readonly name: string }[],
): Promise<Html> {
  const all = days.flatMap((one) => one.counts);
  const names = new Map(organisations.map(({ id, name }) => [id, name]));
  const { retailers } = await counts.catalogue.read(await stores());
  return html`${section(
    'By organisation',
    groupTable('Organisation', all, ({ orgId }) => names.get(orgId) ?? `organisation ${orgId}`),
    source(COMMAND),
  )}
${section(
  'By retailer',
  groupTable('Retailer', all, ({ retailerId }) => retailers.get(retailerId) ?? retailerId),
  source(COMMAND),
)}`;
}

function groupTable(what: string, all: readonly ClickCount[], nameOf: (count: ClickCount) => string): Html {
  const groups = [...Map.groupBy(all, nameOf)]
    .map(([name, counts]) => ({ name, ...sumClicks(counts) }))
    .toSorted((a, b) => b.clicks - a.clicks || (a.name < b.name ? -1 : 1));
  const shown = groups.slice(0, ROWS_MAX);
  return html`${table(
    `Clicks by ${what.toLowerCase()}`,
    [what, 'Clicks', 'Tracked', 'With a sale', 'Share with a sale', 'Of all'],
    shown.map(({ name, clicks, tracked, sold }): Cell[] => [
      html`<bdi>${name}</bdi>`,
      number(clicks),
      share(tracked, clicks),
      number(sold),
      share(sold, clicks),
      bar(sold, clicks),
    ]),
    'No clicks.',
  )}${shownOf('first', shown.length, groups.length)}`;
}
