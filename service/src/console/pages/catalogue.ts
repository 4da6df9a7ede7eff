// The catalogue: its revision, its size over time, the deals that end soon, and the retailers without a domain.

import * as ui from '@offerbook/site/console/elements.ts';
import { html } from '@offerbook/site/html.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import type { ImportEntry } from '../../domain/import-log.ts';
import type { MakePage } from '../page-context.ts';

const ENDING_MAX = 50;
const RETAILERS_MAX = 50;
const IMPORTS_MAX = 200;
const DEAL_KINDS = { cashbackOffers: 'Cashback offer', coupons: 'Coupon', promotions: 'Promotion' };

export const cataloguePage: MakePage = async ({ node: { state, nowMs }, stores: openStores, catalogue }) => {
  const stores = await openStores();
  const { revision, retailers, ending, withoutDomain } = await catalogue.read(stores);
  const imports = await stores.imports.list({ kind: 'catalogue', outcome: 'done', limit: IMPORTS_MAX });
  const [lastImport] = imports;
  const sizes = sizesAfter(imports, retailers.size);
  const soon = ending.filter(({ endsAtMs }) => endsAtMs >= nowMs && endsAtMs < nowMs + 7 * DAY_MS);
  const items = state.catalogueItems;
  return {
    title: 'Catalogue',
    main: html`${ui.section(
      'Current state',
      ui.facts({
        'Revision served':
          state.catalogueRevision === undefined ? 'none' : ui.number(state.catalogueRevision),
        'Revision stored': ui.number(revision),
        'Last imported':
          lastImport === undefined
            ? 'never'
            : ui.linked(`/imports/${lastImport.id}`, ui.ago(lastImport.beganAtMs, nowMs)),
        'Deals ending within a week': ui.linked('#deals-ending-within-a-week', ui.number(soon.length)),
        'Retailers without a domain': ui.linked(
          '#retailers-without-a-domain',
          ui.number(withoutDomain.length),
        ),
      }),
      ui.source(
        'offerbook_catalogue_revision',
        'offerbook imports list --kind catalogue',
        'offerbook export catalogue',
      ),
    )}
${ui.section(
  'Active items',
  items === undefined
    ? html`<p class="muted">This node has not loaded a catalogue yet.</p>`
    : ui.facts(
        {
          Retailers: ui.number(items.retailers),
          'Cashback offers': ui.number(items.cashbackOffers),
          Coupons: ui.number(items.coupons),
          Promotions: ui.number(items.promotions),
        },
        'tiles',
      ),
  ui.source('offerbook_catalogue_items'),
)}
${ui.untitled(
  ui.plot(
    'lines',
    'Retailers stored after each import',
    sizes,
    { 'Import began (UTC)': ({ beganAtMs }) => ui.moment(beganAtMs) },
    { Retailers: ['blue', ({ retailers: stored }) => ui.number(stored)] },
  ),
  ui.source('offerbook imports list --kind catalogue --json'),
  html`<p class="source">Computed from the numbers of retailers that the last ${ui.number(sizes.length)} imports added and withdrew.</p>`,
)}
${ui.section(
  'Deals ending within a week',
  ui.table(
    'Deals ending within a week',
    soon.slice(0, ENDING_MAX),
    {
      Retailer: ({ retailerId }) => html`<bdi>${retailers.get(retailerId) ?? retailerId}</bdi>`,
      Kind: ({ list }) => DEAL_KINDS[list],
      Deal: ({ description }) => html`<bdi>${description}</bdi>`,
      Ends: ({ endsAtMs }) => ui.ago(endsAtMs, nowMs),
    },
    'No deals.',
  ),
  ui.shownOf('first', ENDING_MAX, soon.length),
  ui.commands({ 'See what an import would change:': 'offerbook import catalogue FILE --dry-run' }),
)}
${ui.section(
  'Retailers without a domain',
  html`<p>Look-ups by site do not find these retailers, because their hostname is not a domain or is a public suffix.</p>`,
  ui.table(
    'Retailers without a domain',
    withoutDomain.slice(0, RETAILERS_MAX),
    {
      Retailer: ({ name }) => html`<bdi>${name}</bdi>`,
      Hostname: ({ hostname }) => html`<bdi>${hostname}</bdi>`,
    },
    'Every retailer has a domain.',
  ),
  ui.shownOf('first', RETAILERS_MAX, withoutDomain.length),
  ui.commands({ 'Add domains to the links file, and import it:': 'offerbook import links FILE' }),
)}`,
  };
};

/** Returns the number of retailers after each import, oldest first. Works backwards from the current number. */
function sizesAfter(newestFirst: readonly ImportEntry[], storedNow: number) {
  let retailers = storedNow;
  const sizes = newestFirst.map(({ beganAtMs, counts: { added, withdrawn } }) => {
    const size = { beganAtMs, retailers };
    retailers += withdrawn - added;
    return size;
  });
  return sizes.toReversed();
}
