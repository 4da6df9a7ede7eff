// Reads the data for the console's overview page.

import { statfsSync } from 'node:fs';
import {
  type DatabaseConcerns,
  type Disk,
  overviewPage as render,
} from '@offerbook/site/console/overview-page.ts';
import { isExpiring } from '../../domain/access-token.ts';
import type { ImportEntry } from '../../domain/import-log.ts';
import { isStorageError } from '../../domain/storage-error.ts';
import type { MakePage, PageContext } from '../page-context.ts';

/** A disk is nearly full if less than this fraction of its size, or less than this many bytes, is free. */
const DISK_MIN_SHARE = 0.1;
const DISK_MIN_BYTES = 1e9;
/** The usual interval is the median over this many imports. An import is late after LATE_FACTOR times that interval. */
const USUAL_IMPORTS = 20;
const LATE_FACTOR = 3;

export const overviewPage: MakePage = async (context) => {
  const { node, folder } = context;
  return render({ node, folder, disk: diskOf(folder), database: await concernsOrFailure(context) });
};

async function concernsOrFailure(
  context: PageContext,
): Promise<DatabaseConcerns | { readonly failure: string }> {
  try {
    return await findConcerns(context);
  } catch (error) {
    if (!isStorageError(error)) throw error;
    return { failure: error.message };
  }
}

async function findConcerns({ node: { nowMs }, stores: openStores }: PageContext): Promise<DatabaseConcerns> {
  const stores = await openStores();
  const { tokens } = await stores.tokens.list();
  const imports = await stores.imports.list({ kind: 'catalogue', outcome: 'done', limit: USUAL_IMPORTS });
  const { feeds } = await stores.imports.totals();
  return {
    expiringTokens: tokens.filter((token) => isExpiring(token, nowMs)),
    lateCatalogue: lateCatalogue(imports, nowMs),
    failedFeeds: feeds.filter(({ lastOutcome }) => lastOutcome !== 'done'),
  };
}

/** Returns undefined if the next import is not late, or if there are too few imports to know the usual interval. */
function lateCatalogue(
  newestFirst: readonly ImportEntry[],
  nowMs: number,
): DatabaseConcerns['lateCatalogue'] {
  const times = newestFirst.map(({ beganAtMs }) => beganAtMs);
  const [lastMs] = times;
  const pauses = times
    .slice(1)
    .map((ms, i) => (times[i] ?? ms) - ms)
    .toSorted((a, b) => a - b);
  const usualMs = pauses[Math.floor(pauses.length / 2)];
  if (lastMs === undefined || usualMs === undefined || pauses.length < 3) return undefined;
  return nowMs - lastMs > LATE_FACTOR * usualMs ? { lastMs, usualMs } : undefined;
}

function diskOf(folder: string): Disk | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    const [free, size] = [bavail * bsize, blocks * bsize];
    return { free, size, isNearlyFull: free < DISK_MIN_BYTES || free < DISK_MIN_SHARE * size };
  } catch {
    return undefined;
  }
}
