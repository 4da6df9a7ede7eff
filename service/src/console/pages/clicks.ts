// Reads the data for the console's clicks page.

import { type NamedClicks, clicksPage as render } from '@offerbook/site/console/clicks-page.ts';
import type { ClickCount } from '../../domain/click.ts';
import { sumClicks } from '../counts/click-totals.ts';
import type { MakePage } from '../page-context.ts';

export const clicksPage: MakePage = async ({ node, stores: openStores, catalogue, clicks, explorerUrl }) => {
  const stores = await openStores();
  const days = await clicks.count(stores.clicks, node.nowMs);
  const all = days.flatMap((one) => one.counts);
  const names = new Map((await stores.organisations.list()).map(({ id, name }) => [id, name]));
  const { retailers } = await catalogue.read(stores);
  return render({
    node: node.state.clicks,
    days: days.map(({ dayMs, counts }) => ({ dayMs, ...sumClicks(counts) })),
    organisations: groupBy(
      all,
      ({ orgId }) => orgId,
      (orgId) => ({ name: names.get(orgId) ?? `organisation ${orgId}` }),
    ),
    retailers: groupBy(
      all,
      ({ retailerId }) => retailerId,
      (id) => ({ name: retailers.get(id) ?? id, url: retailers.has(id) ? explorerUrl?.(id) : undefined }),
    ),
  });
};

/** Retailers with the same name are different groups. */
function groupBy<Id, Named extends { readonly name: string }>(
  all: readonly ClickCount[],
  idOf: (count: ClickCount) => Id,
  nameOf: (id: Id) => Named,
): (Named & NamedClicks)[] {
  return [...Map.groupBy(all, idOf)]
    .map(([id, counts]) => ({ ...nameOf(id), ...sumClicks(counts) }))
    .toSorted((a, b) => b.clicks - a.clicks || (a.name < b.name ? -1 : 1));
}
