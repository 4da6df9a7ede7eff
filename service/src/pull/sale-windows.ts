// Fetches one window of sales and imports it. The state of the stream advances in the transaction of the import.

import type { SaleFeed } from '@offerbook/feeds/network.ts';
import { openFeeds } from '@offerbook/feeds/networks.ts';
import { PulledSales } from '@offerbook/feeds/pull/pulled-sales.ts';
import type { PullStream, PullWindow } from '@offerbook/feeds/pull/sale-pull.ts';
import type { Source } from '@offerbook/feeds/source/source-file.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { ClickIds } from '../activation/click-id.ts';
import { NO_COUNTS, type PullCounts } from '../domain/pull.ts';
import type { TransactionWriters } from '../domain/transaction.ts';
import { importTransactions } from '../importer/import-transactions.ts';
import { PartRows } from './part-rows.ts';
import type { SourceRun } from './source-run.ts';
import { TemporaryRows } from './temporary-rows.ts';
import { walkPages } from './walk-pages.ts';
import type { StreamProgress } from './windows.ts';

const SALES_PER_LOOK_UP = 1_000;

interface ImportRules {
  readonly dryRun?: boolean;
  readonly onChange?: (id: string) => void;
}

type Advance = (writers: TransactionWriters, counts: PullCounts) => Promise<void>;

export class SaleWindows {
  readonly #run: SourceRun;
  readonly #clickIds: ClickIds;

  constructor(run: SourceRun, clickIds: ClickIds) {
    this.#run = run;
    this.#clickIds = clickIds;
  }

  async pull(stream: StreamProgress, window: PullWindow, how: ImportRules = {}): Promise<PullCounts> {
    const { fromMs, toMs } = window;
    const title = `${stream.rules.name} ${printTimestamp(fromMs)} – ${printTimestamp(toMs)}`;
    const advance: Advance = (writers, counts) => {
      const completeThroughMs = Math.max(toMs, stream.completeThroughMs ?? 0);
      return writers.pulls.advance(stream.key, { completeThroughMs, counts, runMs: this.#run.startedMs });
    };
    const read = async (sales: PulledSales, parts: PartRows | undefined) => {
      await this.#walk(stream.rules, window, sales, title);
      if (parts !== undefined) await this.#addStored(sales.saleIds, sales, parts);
    };
    return await this.#importSales(title, read, { ...how, advance });
  }

  /** Converts stored sales again if they have reached the age at which their status changes. */
  async convertDue(): Promise<void> {
    const { name, pullable, options, context } = this.#run;
    const { pulls } = context.stores;
    if (pullable.pull.parts?.dueAfterMs === undefined || options.dryRun === true) return;
    for (;;) {
      const ids = await pulls.dueSales(name, context.clock(), SALES_PER_LOOK_UP, options.org?.id);
      if (ids.length === 0) return;
      const read = async (sales: PulledSales, parts: PartRows | undefined) => {
        if (parts !== undefined) await this.#addStored(ids, sales, parts);
      };
      const advance: Advance = (writers) => writers.pulls.clearDue(name, ids);
      await this.#importSales('sales whose status depends on their age', read, { advance });
    }
  }

  /** Reads all pages of a window. */
  async #walk(rules: PullStream, window: PullWindow, sales: PulledSales, title: string): Promise<void> {
    const { client, pullable, options } = this.#run;
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

  async #addStored(ids: readonly string[], sales: PulledSales, parts: PartRows): Promise<void> {
    const { name, context, options } = this.#run;
    for (let at = 0; at < ids.length; at += SALES_PER_LOOK_UP) {
      const some = ids.slice(at, at + SALES_PER_LOOK_UP);
      const rows = await context.stores.pulls.rowsOf(name, some, options.org?.id);
      for (const row of rows) sales.addEarlier(parts.toNetworkRow(row));
    }
  }

  /** Converts and imports the rows that `read` adds. */
  async #importSales(
    title: string,
    read: (sales: PulledSales, parts: PartRows | undefined) => Promise<void>,
    how: ImportRules & { readonly advance: Advance },
  ): Promise<PullCounts> {
    const { name, lease, pullable, options, context } = this.#run;
    const { stores, clock } = context;
    const { pull, overlay, coupons } = pullable;
    const { org, skipInvalid, unattributed } = options;
    const dryRun = how.dryRun ?? options.dryRun;
    // Requests for sales always ask for times in UTC, so the source's timeZone does not apply.
    const source: Source = { ...pullable.source, timeZone: 'UTC' };
    const feed = openFeeds(source, clock()).transactions as SaleFeed;
    using rows = new TemporaryRows();
    using parts = pull.parts && new PartRows(pull.parts, source, org, this.#clickIds, clock());
    const sales = new PulledSales(pull, feed, { source, overlay, coupons, organisation: org?.name }, rows, {
      skipInvalid,
      onPart: (part, row) => parts?.add(part, row),
    });
    await read(sales, parts);
    const converted = await sales.finish();
    await parts?.flush();
    let counts = NO_COUNTS;
    await this.#run.import(
      'transactions',
      title,
      { rows, converted, isTrial: how.dryRun },
      (input, importId) =>
        importTransactions(stores.transactions, org, input, clock, {
          ...{ dryRun, skipInvalid, importId, allowEmpty: true },
          attributor: { ids: this.#clickIds, clicks: stores.clicks, unattributed },
          pulled: {
            finish: async (writers, report) => {
              const { added, changed, unchanged, stale, withdrawn } = report;
              const invalid = report.invalid + converted.invalid;
              counts = { added, changed, unchanged: unchanged + stale, withdrawn, invalid };
              await writers.pulls.holdLease(lease);
              await parts?.store(name, writers);
              await how.advance(writers, counts);
            },
            ...(how.onChange === undefined ? {} : { onChange: how.onChange }),
          },
        }),
    );
    return counts;
  }
}
