// Reads the data for the console's catalogue page.

import { cataloguePage as render } from '@offerbook/site/console/catalogue-page.ts';
import type { ImportEntry } from '../../domain/import-log.ts';
import type { MakePage } from '../page-context.ts';

const WEEK_MS = 7 * 86_400_000;
const ENDING_MAX = 50;
const RETAILERS_MAX = 50;
const IMPORTS_MAX = 200;

export const cataloguePage: MakePage = async ({ node, stores: openStores, catalogue }) => {
  const stores = await openStores();
  const { state, nowMs } = node;
  const { revision, retailers, ending, withoutDomain } = await catalogue.read(stores);
  const imports = await stores.imports.list({ kind: 'catalogue', outcome: 'done', limit: IMPORTS_MAX });
  const soon = ending.filter(({ endsAtMs }) => endsAtMs >= nowMs && endsAtMs < nowMs + WEEK_MS);
  return render({
    nowMs,
    servedRevision: state.catalogueRevision,
    storedRevision: revision,
    items: state.catalogueItems,
    lastImport: imports[0],
    sizes: sizesAfter(imports, retailers.size),
    ending: soon.slice(0, ENDING_MAX).map(({ list, endsAtMs, retailerId, description }) => {
      return { list, endsAtMs, retailer: retailers.get(retailerId) ?? retailerId, description };
    }),
    endingCount: soon.length,
    withoutDomain: withoutDomain.slice(0, RETAILERS_MAX),
    withoutDomainCount: withoutDomain.length,
  });
};

/** Returns the number of retailers after each import, oldest first. Works backwards from the current number. */
function sizesAfter(newestFirst: readonly ImportEntry[], storedNow: number) {
  let retailers = storedNow;
  const sizes = newestFirst.map(({ beganAtMs, counts: { added, withdrawn } }) => {
    const size = { importedAtMs: beganAtMs, retailers };
    retailers += withdrawn - added;
    return size;
  });
  return sizes.toReversed();
}
