// The catalogue: its revision, its size over time, the deals that end soon, and the retailers without a domain.

import type { DealList } from '@offerbook/wire/deals.ts';
import { html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import {
  ago,
  command,
  commands,
  facts,
  linked,
  moment,
  number,
  plot,
  section,
  shownOf,
  source,
  table,
  untitled,
} from './elements.ts';

const DEAL_KINDS: Record<DealList, string> = {
  cashbackOffers: 'Cashback offer',
  coupons: 'Coupon',
  promotions: 'Promotion',
};

interface CatalogueView {
  readonly nowMs: number;
  /** Undefined while the node has no catalogue. */
  readonly servedRevision: number | undefined;
  readonly storedRevision: number;
  /** Number of active items by list; undefined while the node has no catalogue. */
  readonly items: ItemCounts | undefined;
  /** The last successful import. */
  readonly lastImport: { readonly id: number; readonly beganAtMs: number } | undefined;
  /** Number of retailers after each of the last imports, oldest first. */
  readonly sizes: readonly { readonly importedAtMs: number; readonly retailers: number }[];
  /** The first deals to end within a week; `endingCount` counts all. */
  readonly ending: readonly EndingDeal[];
  readonly endingCount: number;
  /** The first retailers that look-ups by site cannot find; `withoutDomainCount` counts all. */
  readonly withoutDomain: readonly { readonly name: string; readonly hostname: string }[];
  readonly withoutDomainCount: number;
}

interface ItemCounts {
  readonly retailers: number;
  readonly cashbackOffers: number;
  readonly coupons: number;
  readonly promotions: number;
}

interface EndingDeal {
  readonly list: DealList;
  readonly endsAtMs: number;
  readonly retailer: string;
  readonly description: string;
}

export function cataloguePage(view: CatalogueView): ConsolePage {
  const { nowMs, servedRevision, storedRevision, items, lastImport, sizes, ending, endingCount } = view;
  const { withoutDomain, withoutDomainCount } = view;
  return {
    title: 'Catalogue',
    main: html`${section(
      'Current state',
      facts([
        ['Revision served', servedRevision === undefined ? 'none' : number(servedRevision)],
        ['Revision stored', number(storedRevision)],
        [
          'Last imported',
          lastImport === undefined
            ? 'never'
            : html`<a href="/imports/${lastImport.id}">${ago(lastImport.beganAtMs, nowMs)}</a>`,
        ],
        ['Deals ending within a week', linked('#deals-ending-within-a-week', number(endingCount))],
        ['Retailers without a domain', linked('#retailers-without-a-domain', number(withoutDomainCount))],
      ]),
      source(
        'offerbook_catalogue_revision',
        'offerbook imports list --kind catalogue',
        'offerbook export catalogue',
      ),
    )}
${section(
  'Active items',
  items === undefined
    ? html`<p class="muted">This node has not loaded a catalogue yet.</p>`
    : facts(
        [
          ['Retailers', number(items.retailers)],
          ['Cashback offers', number(items.cashbackOffers)],
          ['Coupons', number(items.coupons)],
          ['Promotions', number(items.promotions)],
        ],
        'tiles',
      ),
  source('offerbook_catalogue_items'),
)}
${untitled(
  plot(
    'lines',
    'Retailers stored after each import',
    sizes,
    { 'Import began (UTC)': ({ importedAtMs }) => moment(importedAtMs) },
    { Retailers: ['blue', ({ retailers }) => number(retailers)] },
  ),
  source('offerbook imports list --kind catalogue --json'),
  html`<p class="source">Computed from the numbers of retailers that the last ${number(sizes.length)} imports added and withdrew.</p>`,
)}
${section(
  'Deals ending within a week',
  table(
    'Deals ending within a week',
    ending,
    {
      Retailer: ({ retailer }) => html`<bdi>${retailer}</bdi>`,
      Kind: ({ list }) => DEAL_KINDS[list],
      Deal: ({ description }) => html`<bdi>${description}</bdi>`,
      Ends: ({ endsAtMs }) => ago(endsAtMs, nowMs),
    },
    'No deals.',
  ),
  shownOf('first', ending.length, endingCount),
  commands(command('See what an import would change:', 'offerbook import catalogue FILE --dry-run')),
)}
${section(
  'Retailers without a domain',
  html`<p>Look-ups by site do not find these retailers, because their hostname is not a domain or is a public suffix.</p>`,
  table(
    'Retailers without a domain',
    withoutDomain,
    {
      Retailer: ({ name }) => html`<bdi>${name}</bdi>`,
      Hostname: ({ hostname }) => html`<bdi>${hostname}</bdi>`,
    },
    'Every retailer has a domain.',
  ),
  shownOf('first', withoutDomain.length, withoutDomainCount),
  commands(command('Add domains to the links file, and import it:', 'offerbook import links FILE')),
)}`,
  };
}
