// The catalogue: its revision, its size over time, and the deals that end soon.

import { html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import { command, facts, moment, number, plot, section, shownOf, since, source, table } from './elements.ts';

const LISTS = {
  retailers: 'Retailers',
  cashbackOffers: 'Cashback offers',
  coupons: 'Coupons',
  promotions: 'Promotions',
} as const;

type ListName = keyof typeof LISTS;

export interface CatalogueView {
  readonly nowMs: number;
  /** Undefined while the node has no catalogue. */
  readonly servedRevision: number | undefined;
  readonly storedRevision: number;
  /** Number of active items by list; undefined while the node has no catalogue. */
  readonly items: Readonly<Record<ListName, number>> | undefined;
  /** The last successful import. */
  readonly lastImport: { readonly id: number; readonly beganAtMs: number } | undefined;
  /** Number of retailers after each of the last imports, oldest first. */
  readonly sizes: readonly { readonly importedAtMs: number; readonly retailers: number }[];
  /** The first deals that end within a week; `endingCount` counts all. */
  readonly ending: readonly {
    readonly list: ListName;
    readonly endsAtMs: number;
    readonly retailer: string;
    readonly description: string;
  }[];
  readonly endingCount: number;
}

export function cataloguePage(view: CatalogueView): ConsolePage {
  const { nowMs, servedRevision, storedRevision, items, lastImport, sizes, ending, endingCount } = view;
  return {
    title: 'Catalogue',
    main: html`${section(
      'Now',
      facts([
        ['Revision served', servedRevision === undefined ? 'none' : number(servedRevision)],
        ['Revision stored', number(storedRevision)],
        [
          'Last imported',
          lastImport === undefined
            ? 'never'
            : html`<a href="/imports/${lastImport.id}">${since(lastImport.beganAtMs, nowMs)}</a>`,
        ],
        ['Deals ending within a week', number(endingCount)],
      ]),
      source(
        'offerbook_catalogue_revision',
        'offerbook imports list --kind catalogue',
        'offerbook export catalogue',
      ),
    )}
${section(
  'Active items',
  table(
    'Active items by list',
    ['List', 'Items'],
    (Object.keys(LISTS) as ListName[]).map((list) => [
      LISTS[list],
      items === undefined ? '–' : number(items[list]),
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
    sizes.map(({ importedAtMs, retailers }) => [moment(importedAtMs), number(retailers)]),
  ),
  source('offerbook imports list --kind catalogue --json'),
  html`<p class="source">Computed from the retailers that the last ${number(sizes.length)} imports added and withdrew.</p>`,
)}
${section(
  'Deals ending within a week',
  table(
    'Deals ending within a week',
    ['Ends (UTC)', 'List', 'Retailer', 'Deal'],
    ending.map(({ list, endsAtMs, retailer, description }) => [
      moment(endsAtMs),
      LISTS[list],
      html`<bdi>${retailer}</bdi>`,
      html`<bdi>${description}</bdi>`,
    ]),
    'None.',
  ),
  shownOf('first', ending.length, endingCount),
  command('See what an import would change:', 'offerbook import catalogue FILE --dry-run'),
)}`,
  };
}
