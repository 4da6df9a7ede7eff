// Pulls the catalogue of one source. Nothing is imported unless every page of every list has been read. The import replaces the
// retailers that this source listed before, and no others. While a network fails, its retailers stay as they are.

import { openFeeds } from '@offerbook/feeds/networks.ts';
import type { CatalogueList, CataloguePull } from '@offerbook/feeds/pull/network-pull.ts';
import { type CatalogueRows, PulledCatalogue } from '@offerbook/feeds/pull/pulled-catalogue.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import { HOUR_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { CATALOGUE, NO_COUNTS, type PullCounts, type StreamKey } from '../domain/pull.ts';
import { importCatalogue } from '../importer/import-catalogue.ts';
import type { BodyReader } from './network-client.ts';
import { RequestFailed } from './network-failures.ts';
import type { ByteBudget } from './response-watch.ts';
import { NO_FAILURE, type SourceRun, type StreamReport } from './source-run.ts';
import { TemporaryRows } from './temporary-rows.ts';
import { walkPages } from './walk-pages.ts';

/** Reading a catalogue can use up half an hour of the request budget, which sales share. */
const EVERY_MS = 6 * HOUR_MS;
/** Bytes of all pages of a list, whose rows are kept in memory until all of them have been read. */
const LIST_BYTES_MAX = 128 * 1024 * 1024;

export async function isCatalogueDue(run: SourceRun): Promise<boolean> {
  const { pullable, context } = run;
  if (pullable.catalogue === undefined) return false;
  const state = await context.stores.pulls.find(catalogueKey(run));
  return context.clock() - (state?.completeThroughMs ?? 0) >= EVERY_MS;
}

export async function pullCatalogue(run: SourceRun): Promise<StreamReport> {
  const { pullable, options, context } = run;
  const key = catalogueKey(run);
  const before = (await context.stores.pulls.find(key))?.completeThroughMs ?? null;
  const startedMs = context.clock();
  const { source, stream } = key;
  try {
    if (pullable.catalogue === undefined)
      throw new BadInput('the source file lacks a setting that is needed to pull the catalogue');
    const catalogue = await readCatalogue(run, pullable.catalogue);
    const counts = await importPulled(run, catalogue, Math.max(startedMs, before ?? 0));
    const completeThroughMs = options.dryRun === true ? before : startedMs;
    return { source, stream, completeThroughMs, windows: 1, counts, ...NO_FAILURE };
  } catch (error) {
    const failure = await run.explain(error, key);
    const kept = before === null ? '' : `; the stored catalogue of ${printTimestamp(before)} stays as it is`;
    return {
      ...{ source, stream, completeThroughMs: before, windows: 0, counts: NO_COUNTS },
      ...{ ...failure, error: `${failure.error}${kept}` },
    };
  }
}

export function catalogueKey({ name }: SourceRun): StreamKey {
  return { source: name, orgId: 0, stream: CATALOGUE };
}

async function readCatalogue(run: SourceRun, pull: CataloguePull): Promise<PulledCatalogue> {
  const { source, overlay } = run.pullable;
  const network = openFeeds(source, run.context.clock());
  const catalogue = new PulledCatalogue(
    network,
    { source, overlay },
    { skipInvalid: run.options.skipInvalid },
  );
  for (const list of pull.lists) await readList(run, list, catalogue);
  for (const advertiserId of catalogue.advertiserIds) {
    for (const list of pull.listsOf?.(advertiserId) ?? []) await readList(run, list, catalogue);
  }
  return catalogue;
}

/** Reads all pages of a list. Adds the rows to the catalogue only if the list is complete. */
async function readList(run: SourceRun, list: CatalogueList, catalogue: PulledCatalogue): Promise<void> {
  const { feed, advertiserId } = list;
  const name = advertiserId === undefined ? feed : `${feed} of ${advertiserId}`;
  let pages: CatalogueRows['rows'][] = [];
  const { bytes = LIST_BYTES_MAX } = run.context.limits ?? {};
  const budget: ByteBudget = { bytesLeft: bytes };
  const countRows = () => pages.reduce((sum, rows) => sum + rows.length, 0);
  try {
    await walkPages({
      begin: () => {
        pages = [];
        budget.bytesLeft = bytes;
      },
      read: async (position) => {
        const at = { position, rowsBefore: countRows() };
        const read: BodyReader<CatalogueRows> = (body, header) => catalogue.read(list, at, body, header);
        const page = await run.client.fetch(list.request(position), read, budget);
        pages.push(page.rows);
        run.options.onRows?.(catalogue.rowCount + countRows(), `${CATALOGUE}, ${name}`);
        return page;
      },
      isComplete: (total = 0) => countRows() >= total,
      digest: () => digestOf(pages.flat()),
    });
  } catch (error) {
    throw error instanceof RequestFailed ? new RequestFailed(error.kind, `${name}: ${error.message}`) : error;
  }
  for (const [index, rows] of pages.entries())
    catalogue.add(list, rows, pages.length === 1 ? name : `${name}, page ${index + 1}`);
}

/** The order of the rows does not matter. */
function digestOf(rows: CatalogueRows['rows']): string {
  return [...new Set(rows.map(({ value }) => Bun.hash(JSON.stringify(value))))].sort().join();
}

async function importPulled(
  run: SourceRun,
  catalogue: PulledCatalogue,
  completeThroughMs: number,
): Promise<PullCounts> {
  const { name, lease, options, context } = run;
  const { stores, clock } = context;
  const { dryRun, maxWithdrawals, allowWithdrawals } = options;
  using rows = new TemporaryRows();
  const converted = await catalogue.finish(rows);
  const title = `${CATALOGUE} ${printTimestamp(completeThroughMs)}`;
  let counts = NO_COUNTS;
  await run.import('catalogue', title, { rows, converted }, (input, importId) =>
    importCatalogue(stores.catalogue, input, {
      ...{ dryRun, importId, maxWithdrawals, allowWithdrawals, allowEmpty: true },
      // An invalid row may be a retailer or deal that the network still offers, so nothing is withdrawn.
      merge: converted.invalid > 0,
      pulled: {
        source: name,
        nowMs: clock(),
        finish: async ({ pulls }, { added, changed, unchanged, withdrawn, invalid }) => {
          counts = { added, changed, unchanged, withdrawn, invalid: invalid + converted.invalid };
          await pulls.holdLease(lease);
          await pulls.advance(catalogueKey(run), { completeThroughMs, counts, runMs: run.startedMs });
        },
      },
    }),
  );
  if (converted.invalid > 0) run.note(title, 'Nothing was withdrawn, because some rows are invalid.');
  return counts;
}
