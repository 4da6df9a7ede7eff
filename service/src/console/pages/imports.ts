// Reads the data for the console's imports page and for its page about one import.

import { NO_SUCH_IMPORT, importPage as renderOne } from '@offerbook/site/console/import-page.ts';
import { importsPage as render } from '@offerbook/site/console/imports-page.ts';
import { IMPORT_KINDS, IMPORT_OUTCOMES } from '../../domain/import-log.ts';
import { findOrganisation, type MakePage } from '../page-context.ts';

const ENTRIES_MAX = 100;
const DAY_MS = 86_400_000;
const DAYS_MAX = 30;

export const importsPage: MakePage = async ({ node: { nowMs }, stores: openStores, query }) => {
  const stores = await openStores();
  const organisations = await stores.organisations.list();
  const kind = IMPORT_KINDS.find((one) => one === query.get('kind'));
  const outcome = IMPORT_OUTCOMES.find((one) => one === query.get('outcome'));
  const org = findOrganisation(organisations, query.get('org'));
  return render({
    nowMs,
    daysMax: DAYS_MAX,
    days: await stores.imports.days(Math.floor(nowMs / DAY_MS - DAYS_MAX + 1) * DAY_MS),
    feeds: (await stores.imports.totals()).feeds,
    entries: await stores.imports.list({ kind, outcome, orgId: org?.id, limit: ENTRIES_MAX }),
    entriesMax: ENTRIES_MAX,
    filter: { kinds: IMPORT_KINDS, outcomes: IMPORT_OUTCOMES, organisations, kind, outcome, org },
  });
};

export const importPage: MakePage = async ({ node, stores, parameters }) => {
  const id = /^\d{1,9}$/.test(parameters.id ?? '') ? Number(parameters.id) : undefined;
  const entry = id === undefined ? undefined : await (await stores()).imports.find(id);
  return entry === undefined ? NO_SUCH_IMPORT : renderOne(entry, node.nowMs);
};
