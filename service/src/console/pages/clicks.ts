// Data for the clicks page.

import {
  type CountedClicks,
  type NamedClicks,
  clicksPage as render,
} from '@offerbook/site/console/clicks-page.ts';
import type { ClickCount } from '../../domain/click.ts';
import { type ClickDay, sumClicks } from '../counts/click-totals.ts';
import type { MakePage, PageContext } from '../page-context.ts';

export const clicksPage: MakePage = async (context) => {
  const { node, counts } = context;
  const { last } = await counts.clicks.read();
  return render({
    nowMs: node.nowMs,
    node: node.state.clicks,
    counted: last && (await group(context, last.value, last.countedAtMs)),
  });
};

async function group(
  { stores: openStores, counts }: PageContext,
  days: readonly ClickDay[],
  countedAtMs: number,
): Promise<CountedClicks> {
  const stores = await openStores();
  const all = days.flatMap((one) => one.counts);
  const names = new Map((await stores.organisations.list()).map(({ id, name }) => [id, name]));
  const { retailers } = await counts.catalogue.read(stores);
  return {
    countedAtMs,
    days: days.map(({ dayMs, counts }) => ({ dayMs, ...sumClicks(counts) })),
    organisations: groupBy(all, ({ orgId }) => names.get(orgId) ?? `organisation ${orgId}`),
    retailers: groupBy(all, ({ retailerId }) => retailers.get(retailerId) ?? retailerId),
  };
}

function groupBy(all: readonly ClickCount[], nameOf: (count: ClickCount) => string): NamedClicks[] {
  return [...Map.groupBy(all, nameOf)]
    .map(([name, counts]) => ({ name, ...sumClicks(counts) }))
    .toSorted((a, b) => b.clicks - a.clicks || (a.name < b.name ? -1 : 1));
}
