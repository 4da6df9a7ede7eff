// Is the catalogue fresh?

import { html } from '@offerbook/site/html.ts';
import type { ImportEntry } from '../../domain/books.ts';
import type { MakePage } from '../console-page.ts';
import { command, facts, moment, number, plot, section, shownOf, since, source, table } from '../elements.ts';

const WEEK_MS = 7 * 86_400_000;
const ENDING_MAX = 50;
const IMPORTS_MAX = 200;

const LISTS = {
  retailers: 'Retailers',
  cashbackOffers: 'Cashback offers',
  coupons: 'Coupons',
  promotions: 'Promotions',
} as const;

export const cataloguePage: MakePage = async ({ node, stores: openStores, counts }) => {
  const stores = await openStores();
  const { state, nowMs } = node;
  const contents = await counts.catalogue.read(stores);
  const imports = await stores.imports.list({ kind: 'catalogue', outcome: 'done', limit: IMPORTS_MAX });
  const [last] = imports;
  const ending = contents.ending.filter(({ endsAtMs }) => endsAtMs >= nowMs && endsAtMs < nowMs + WEEK_MS);
  const items = state.catalogueItems;
  return {
    title: 'Catalogue',
    main: html`${section(
      'Now',
      facts([
        ['Revision served', state.catalogueRevision === undefined ? 'none' : number(state.catalogueRevision)],
        ['Revision stored', number(contents.revision)],
        [
          'Last imported',
          last === undefined
            ? 'never'
            : html`<a href="/imports/${last.id}">${since(last.beganAtMs, nowMs)}</a>`,
        ],
        ['Deals that end within a week', number(ending.length)],
      ]),
      source(
        'offerbook_catalogue_revision',
        'offerbook imports list --kind catalogue',
        'offerbook export catalogue',
      ),
    )}
${section(
  'Items that are active now',
  table(
    'Items of each list',
    ['List', 'Items'],
    Object.entries(LISTS).map(([list, label]) => [
      label,
      items === undefined ? '–' : number(items[list as keyof typeof LISTS]),
    ]),
  ),
  source('offerbook_catalogue_items'),
)}
${section(
  'Retailers over time',
  plot(
    'lines',
    'Retailers stored after each import',
    ['Import began (UTC)', 'Retailers'],
    retailersAfter(imports, contents.retailers.size),
  ),
  source('offerbook imports list --kind catalogue --json'),
  html`<p class="source">Worked out from what the last ${number(imports.length)} imports have added and withdrawn.</p>`,
)}
${section(
  'Deals that end within a week',
  table(
    'Deals that end within a week',
    ['Ends (UTC)', 'List', 'Retailer', 'Deal'],
    ending
      .slice(0, ENDING_MAX)
      .map(({ list, endsAtMs, retailerId, description }) => [
        moment(endsAtMs),
        LISTS[list],
        html`<bdi>${contents.retailers.get(retailerId) ?? retailerId}</bdi>`,
        html`<bdi>${description}</bdi>`,
      ]),
    'None.',
  ),
  shownOf('first', ENDING_MAX, ending.length),
  command('See what an import would change:', 'offerbook import catalogue FILE --dry-run'),
)}`,
  };
};

/** The oldest first, from the newest backwards: before an import there were fewer by what it added, and more by what it withdrew. */
function retailersAfter(newestFirst: readonly ImportEntry[], now: number) {
  let retailers = now;
  const rows = newestFirst.map(({ beganAtMs, counts: { added, withdrawn } }) => {
    const row = [moment(beganAtMs), number(retailers)];
    retailers += withdrawn - added;
    return row;
  });
  return rows.toReversed();
}
