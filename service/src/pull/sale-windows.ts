// Fetches one window of sales and imports it. The state of the stream advances in the transaction of the import.

import { ConvertRun } from '@offerbook/feeds/convert-run.ts';
import type { SaleFeed } from '@offerbook/feeds/network.ts';
import { openFeeds } from '@offerbook/feeds/networks.ts';
import type { PullStream, PullWindow } from '@offerbook/feeds/pull/network-pull.ts';
import type { Source } from '@offerbook/feeds/source/source-file.ts';
import { TransactionConversion } from '@offerbook/feeds/transactions/convert-transactions.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { NO_COUNTS, type PullCounts } from '../domain/pull.ts';
import type { TransactionWriters } from '../domain/transaction.ts';
import { importTransactions } from '../importer/import-transactions.ts';
import { type PartRows, partRows } from './part-rows.ts';
import type { SourceRun } from './source-run.ts';
import { TemporaryRows } from './temporary-rows.ts';
import { walkPages } from './walk-pages.ts';
import type { StreamProgress } from './windows.ts';

const SALES_PER_LOOK_UP = 1_000;

interface SaleImport {
  /** Adds the rows. */
  read(sales: TransactionConversion, parts: PartRows | undefined): Promise<void>;
  advance(writers: TransactionWriters, counts: PullCounts): Promise<void>;
  /** A dry run that prints nothing. */
  readonly isTrial?: boolean;
  readonly onChange?: (id: string) => void;
}

export async function pullWindow(
  run: SourceRun,
  stream: StreamProgress,
  window: PullWindow,
  how: Pick<SaleImport, 'isTrial' | 'onChange'> = {},
): Promise<PullCounts> {
  const { fromMs, toMs } = window;
  const title = `${stream.rules.name} ${printTimestamp(fromMs)} – ${printTimestamp(toMs)}`;
  return await importSales(run, title, {
    ...how,
    async read(sales, parts) {
      await readPages(run, stream.rules, window, sales, title);
      if (parts !== undefined) await addStored(run, sales.saleIds, sales, parts);
    },
    advance({ pulls }, counts) {
      const completeThroughMs = Math.max(toMs, stream.completeThroughMs ?? 0);
      return pulls.advance(stream.key, { completeThroughMs, counts, runMs: run.startedMs });
    },
  });
}

/** Converts stored sales again if they have reached the age at which their status changes. */
export async function convertDue(run: SourceRun): Promise<void> {
  const { name, pullable, options, context } = run;
  const { pulls } = context.stores;
  if (pullable.pull.parts?.dueAfterMs === undefined || options.dryRun === true) return;
  for (;;) {
    const ids = await pulls.dueSales(name, context.clock(), SALES_PER_LOOK_UP, options.org?.id);
    if (ids.length === 0) return;
    await importSales(run, 'sales whose status depends on their age', {
      async read(sales, parts) {
        if (parts !== undefined) await addStored(run, ids, sales, parts);
      },
      advance: (writers) => writers.pulls.clearDue(name, ids),
    });
  }
}

async function readPages(
  { client, pullable, options }: SourceRun,
  rules: PullStream,
  window: PullWindow,
  sales: TransactionConversion,
  title: string,
): Promise<void> {
  const { pull } = pullable;
  await walkPages({
    read: async (position, number) => {
      const request = pull.request(rules.name, window, position);
      const page = await client.fetch(request, async (body, header) => {
        const found = await sales.addPage(`page ${number}`, body, header);
        return { next: pull.next(found, position), total: found.info.total };
      });
      options.onRows?.(sales.rowCount, title);
      return page;
    },
  });
}

async function addStored(
  { name, context, options }: SourceRun,
  ids: readonly string[],
  sales: TransactionConversion,
  parts: PartRows,
): Promise<void> {
  for (let at = 0; at < ids.length; at += SALES_PER_LOOK_UP) {
    const some = ids.slice(at, at + SALES_PER_LOOK_UP);
    const rows = await context.stores.pulls.rowsOf(name, some, options.org?.id);
    for (const row of rows) sales.addEarlier(parts.toNetworkRow(row));
  }
}

/** Converts and imports the rows that `read` adds. */
async function importSales(
  run: SourceRun,
  title: string,
  { read, advance, isTrial, onChange }: SaleImport,
): Promise<PullCounts> {
  const { pull, overlay, coupons } = run.pullable;
  const { stores, clock } = run.context;
  const { org, skipInvalid, unattributed } = run.options;
  const dryRun = isTrial ?? run.options.dryRun;
  // Requests for sales always ask for times in UTC, so the source's timeZone does not apply.
  const source: Source = { ...run.pullable.source, timeZone: 'UTC' };
  const feed = openFeeds(source, clock()).transactions as SaleFeed;
  using rows = new TemporaryRows();
  const parts = pull.parts && partRows(pull.parts, source, org, run.clickIds, clock());
  const rules = { source, overlay, coupons, organisation: org?.name };
  const sales = new TransactionConversion(new ConvertRun([], { skipInvalid }), feed, rules, rows, {
    pages: pull,
    onPart: parts?.add,
  });
  await read(sales, parts);
  const converted = await sales.finish();
  let counts = NO_COUNTS;
  await run.import('transactions', title, { rows, converted, isTrial }, (input, importId) =>
    importTransactions(stores, org, input, clock, {
      ...{ dryRun, skipInvalid, importId, allowEmpty: true, unattributed },
      pulled: {
        onChange,
        finish: async (writers, report) => {
          const { added, changed, unchanged, stale, withdrawn } = report;
          const invalid = report.invalid + converted.invalid;
          counts = { added, changed, unchanged: unchanged + stale, withdrawn, invalid };
          await writers.pulls.holdLease(run.lease);
          await parts?.store(run.name, writers);
          await advance(writers, counts);
        },
      },
    }),
  );
  return counts;
}
