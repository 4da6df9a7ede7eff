// Reads the data for the console's page about one import.

import { NO_SUCH_IMPORT, importPage as render } from '@offerbook/site/console/import-page.ts';
import type { MakePage } from '../page-context.ts';

export const importPage: MakePage = async ({ node, stores, parameters }) => {
  const id = /^\d{1,9}$/.test(parameters.id ?? '') ? Number(parameters.id) : undefined;
  const entry = id === undefined ? undefined : await (await stores()).imports.find(id);
  return entry === undefined ? NO_SUCH_IMPORT : render(entry, node.nowMs);
};
