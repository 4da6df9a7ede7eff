// Fetches one window of sales and imports it. The state of the stream advances in the transaction of the import.

import type { SaleFeed } from '@offerbook/feeds/network.ts';
import { openFeeds } from '@offerbook/feeds/networks.ts';
import { PulledSales } from '@offerbook/feeds/pull/pulled-sales.ts';
import type { PullStream, PullWindow } from '@offerbook/feeds/pull/sale-pull.ts';
import type { Source } from '@offerbook/feeds/source/source-file.ts';
import type { TransactionRules } from '@offerbook/feeds/transactions/to-transaction.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { ClickIds } from '../activation/click-id.ts';
import { NO_COUNTS, type PullCounts } from '../domain/pull.ts';
import type { TransactionWriters } from '../domain/transaction.ts';
import { importTransactions } from '../importer/import-transactions.ts';
import { PartRows } from './part-rows.ts';
import type { SourceRun } from './source-run.ts';
import type { StreamProgress } from './stream-progress.ts';
import { TemporaryRows } from './temporary-rows.ts';
import { walkPages } from './walk-pages.ts';

const SALES_PER_LOOK_UP = 1_000;

export interface ImportRules {
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
    using rows = new TemporaryRows();
    using parts = this.#openParts();
    const sales = this.#openSales(rows, parts);
    const { fromMs, toMs } = window;
    const title = `${stream.rules.name} ${printTimestamp(fromMs)} – ${printTimestamp(toMs)}`;
    await this.#walk(stream.rules, window, sales, title);
    await this.#addEarlier(sales, parts);
    const advance: Advance = (writers, counts) => {
      const completeThroughMs = Math.max(toMs, stream.completeThroughMs ?? 0);
      return writers.pulls.advance(stream.key, { completeThroughMs, counts, runMs: this.#run.startedMs });
    };
    return await this.#importRows(title, sales, rows, parts, { ...how, advance });
  }

  /** Converts stored sales again if they have reached the age at which their status changes. */
  async convertDue(): Promise<void> {
    const { name, pullable, options, context } = this.#run;
    const { pulls } = context.stores;
    if (pullable.pull.parts?.dueAfterMs === undefined || options.dryRun === true) return;
    for (;;) {
      const ids = await pulls.dueSales(name, context.clock(), SALES_PER_LOOK_UP, options.org?.id);
      if (ids.length === 0) return;
      using rows = new TemporaryRows();
      using parts = this.#openParts();
      const sales = this.#openSales(rows, parts);
      const stored = await pulls.rowsOf(name, ids, options.org?.id);
      for (const row of stored) sales.addEarlier(parts?.toNetworkRow(row));
      const advance: Advance = (writers) => writers.pulls.clearDue(name, ids);
      await this.#importRows('sales whose status depends on their age', sales, rows, parts, { advance });
    }
  }

  #openParts(): PartRows | undefined {
    const { pullable, options, context } = this.#run;
    const { pull, source } = pullable;
    const how = { clickIds: this.#clickIds, nowMs: context.clock() };
    return pull.parts === undefined ? undefined : new PartRows(pull.parts, source, options.org, how);
  }

  #openSales(rows: TemporaryRows, parts: PartRows | undefined): PulledSales {
    const { pullable, options, context } = this.#run;
    const { source, overlay, pull, coupons } = pullable;
    const { org, skipInvalid } = options;
    // Requests for sales always ask for times in UTC, so the source's timeZone does not apply.
    const utc: Source = { ...source, timeZone: 'UTC' };
    const feed = openFeeds(utc, context.clock()).transactions as SaleFeed;
    const rules: TransactionRules = {
      source: utc,
      overlay,
      coupons,
      organisation: org?.name,
    };
    const onPart = (part: Parameters<PartRows['add']>[0], row: unknown) => parts?.add(part, row);
    return new PulledSales(pull, feed, rules, rows, { skipInvalid, onPart });
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
          return { next: pull.next(found, position), total: pull.readTotal?.(found) };
        });
        options.onRows?.(sales.rowCount, title);
        return page;
      },
    });
  }

  /** Adds the stored rows of the sales in this walk. */
  async #addEarlier(sales: PulledSales, parts: PartRows | undefined): Promise<void> {
    if (parts === undefined) return;
    const { name, context, options } = this.#run;
    const ids = sales.saleIds;
    for (let at = 0; at < ids.length; at += SALES_PER_LOOK_UP) {
      const some = ids.slice(at, at + SALES_PER_LOOK_UP);
      const rows = await context.stores.pulls.rowsOf(name, some, options.org?.id);
      for (const row of rows) sales.addEarlier(parts.toNetworkRow(row));
    }
  }

  async #importRows(
    title: string,
    sales: PulledSales,
    rows: TemporaryRows,
    parts: PartRows | undefined,
    how: ImportRules & { readonly advance: Advance },
  ): Promise<PullCounts> {
    const { name, lease, options, context } = this.#run;
    const { stores, clock } = context;
    const { org, skipInvalid, unattributed } = options;
    const dryRun = how.dryRun ?? options.dryRun;
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
