// Pulls the sales of one source: reads every stream window by window and imports each window. The state of a stream advances in
// the transaction of the import.

import type { SaleFeed } from '@offerbook/feeds/network.ts';
import { openNetwork } from '@offerbook/feeds/open-network.ts';
import { PulledSales } from '@offerbook/feeds/pull/pulled-sales.ts';
import type { PullStream, PullWindow, SalePull, Secrets } from '@offerbook/feeds/pull/sale-pull.ts';
import type { Overlay } from '@offerbook/feeds/source/overlay.ts';
import { Shares } from '@offerbook/feeds/source/share.ts';
import type { Source } from '@offerbook/feeds/source/source-file.ts';
import type { CouponCodes } from '@offerbook/feeds/transactions/coupon-codes.ts';
import type { TransactionRules } from '@offerbook/feeds/transactions/to-transaction.ts';
import { printCountOf } from '@offerbook/wire/count.ts';
import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { printProblems } from '@offerbook/wire/rows/row-problem.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { ClickIds } from '../activation/click-id.ts';
import type { Clock } from '../domain/clock.ts';
import type { Organisation } from '../domain/organisation.ts';
import type { Lease, PullCounts, StreamKey } from '../domain/pull.ts';
import type { Stores } from '../domain/stores.ts';
import type { TransactionWriters } from '../domain/transaction.ts';
import type { Aside } from '../importer/attribution.ts';
import { importTransactions } from '../importer/import-transactions.ts';
import { recordImport } from '../importer/record-import.ts';
import { holdLease } from './held-lease.ts';
import { NetworkClient, RequestFailed, type RequestOutcome, SourceStopped } from './network-client.ts';
import { PartRows } from './part-rows.ts';
import { TemporaryRows } from './temporary-rows.ts';
import { lostMs, nextReread, nextWindow } from './windows.ts';

/** Sales of one account, as the operator's files describe them. */
export interface PullableSource {
  readonly source: Source;
  readonly overlay: Overlay;
  readonly pull: SalePull;
  readonly secrets: Secrets;
  readonly coupons: CouponCodes | undefined;
}

export interface PullOptions {
  readonly org: Organisation | undefined;
  /** Where a stream without state starts. */
  readonly startMs: number;
  /** Reads every stream again from here. */
  readonly sinceMs?: number | undefined;
  readonly dryRun?: boolean | undefined;
  readonly skipInvalid?: boolean | undefined;
  readonly aside?: Aside | undefined;
  /** User and machine. */
  readonly by: string;
  readonly version: string;
  readonly onRows?: ((rows: number) => void) | undefined;
  readonly onNote?: ((note: string) => void) | undefined;
}

export interface PullContext {
  readonly stores: Stores;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
}

export interface StreamReport {
  readonly source: string;
  readonly stream: string;
  readonly completeThroughMs: number | null;
  readonly windows: number;
  readonly counts: PullCounts;
  /** Why the stream was left; null if it is up to date. */
  readonly error: string | null;
}

export function sourceName({ network, account }: Source): string {
  return `${network}:${account}`;
}

const NO_COUNTS: PullCounts = { added: 0, changed: 0, unchanged: 0, invalid: 0 };
/** A walk with more pages has lost its way. */
const PAGES_MAX = 100_000;
/** A walk starts again if the network's list changes while it is read. */
const WALKS_MAX = 4;
const SALES_PER_LOOK_UP = 1_000;
/** More differences than this need no list: the warning is the same. */
const SUSPECTS_MAX = 10_000;

interface ImportRules {
  readonly dryRun?: boolean;
  readonly onChange?: (id: string) => void;
}

/** Throws Refused if another process is pulling from this source. Other failures are in the report. */
export async function pullSource(
  pullable: PullableSource,
  options: PullOptions,
  context: PullContext,
): Promise<StreamReport[]> {
  const name = sourceName(pullable.source);
  await using held = await holdLease(context.stores.pulls, name, options.by);
  const clickIds = new ClickIds(await context.stores.clickKey());
  const run = new SourcePull(pullable, options, context, held.lease, clickIds);
  return await run.pullAll();
}

/** Sends one small request and reads its response. Returns how far this machine's clock is ahead of the network's. */
export async function checkSource(
  { pull, secrets, source, overlay, coupons }: PullableSource,
  { stores, clock, sleep, random }: PullContext,
): Promise<number | undefined> {
  const baseUrl = 'baseUrl' in source ? source.baseUrl : undefined;
  const client = new NetworkClient({
    pull,
    secrets,
    baseUrl,
    store: stores.pulls,
    clock,
    sleep,
    random,
    onOutcome: () => {},
  });
  const [first] = pull.streams;
  const toMs = clock() - 3_600_000;
  const feed = openNetwork(source, clock()).transactions;
  if (first === undefined || feed === undefined) return undefined;
  const rules = { source, shares: new Shares(source, overlay), coupons, organisation: undefined };
  using rows = new TemporaryRows();
  const sales = new PulledSales(pull, feed, rules, rows, { onPart: () => {} });
  const request = pull.request(first.name, { fromMs: toMs - 60_000, toMs }, undefined);
  const page = await client.fetch(request, (body, header) => sales.add('the response', body, header));
  const dateMs = Date.parse(page.header('Date') ?? '');
  return Number.isNaN(dateMs) ? undefined : clock() - dateMs;
}

class SourcePull {
  readonly #pullable: PullableSource;
  readonly #options: PullOptions;
  readonly #context: PullContext;
  readonly #lease: Lease;
  readonly #clickIds: ClickIds;
  readonly #name: string;
  readonly #client: NetworkClient;
  readonly #requests = new Map<RequestOutcome, number>();

  constructor(
    pullable: PullableSource,
    options: PullOptions,
    context: PullContext,
    lease: Lease,
    clickIds: ClickIds,
  ) {
    this.#pullable = pullable;
    this.#options = options;
    this.#context = context;
    this.#lease = lease;
    this.#clickIds = clickIds;
    this.#name = sourceName(pullable.source);
    const { source, pull, secrets } = pullable;
    const baseUrl = 'baseUrl' in source ? source.baseUrl : undefined;
    const { stores, ...rest } = context;
    this.#client = new NetworkClient({
      ...rest,
      ...{ pull, secrets, baseUrl, store: stores.pulls },
      onOutcome: (outcome) => this.#requests.set(outcome, (this.#requests.get(outcome) ?? 0) + 1),
    });
  }

  async pullAll(): Promise<StreamReport[]> {
    const reports: StreamReport[] = [];
    let stopped: string | undefined;
    for (const rules of this.#pullable.pull.streams) {
      const stream = new StreamPull(rules, this.#key(rules.name));
      try {
        if (stopped === undefined) await this.#pullStream(stream);
        else stream.error = stopped;
      } catch (error) {
        stream.error = await this.#explain(error, stream.key);
        if (error instanceof SourceStopped) stopped = stream.error;
      }
      reports.push(stream.report);
    }
    if (stopped === undefined) await this.#convertDue();
    if (reports.every(({ error }) => error === null)) await this.#reread(reports);
    return reports;
  }

  /**
   * Reads one window of old sales again, to find changes that the streams did not list. A difference alone proves nothing: the
   * sale may have changed a minute ago. It counts if it remains after the streams have passed that time.
   */
  async #reread(reports: StreamReport[]): Promise<void> {
    const { stores, clock } = this.#context;
    const rules = this.#pullable.pull.reread;
    if (rules === undefined || this.#options.dryRun === true || this.#options.sinceMs !== undefined) return;
    const stream = new StreamPull(rules, this.#key(rules.name));
    const state = await stores.pulls.find(stream.key);
    const atMs = state?.completeThroughMs ?? null;
    const suspects = new Set<string>(state?.suspects);
    const passedMs = Math.min(...reports.map(({ completeThroughMs }) => completeThroughMs ?? 0));
    if (suspects.size > 0 && passedMs < (state?.suspectedAtMs ?? 0)) return;
    const window = nextReread(rules, atMs, clock());
    const differing: string[] = [];
    const onChange = (id: string) => differing.push(id);
    try {
      if (suspects.size === 0) {
        await this.#pullWindow(stream, window, { dryRun: true, onChange });
        const isSame = differing.length === 0;
        const found = {
          completeThroughMs: isSame ? window.toMs : atMs,
          suspects: differing.slice(0, SUSPECTS_MAX),
        };
        await stores.pulls.noteReread(stream.key, found);
        return;
      }
      stream.add(window, await this.#pullWindow(stream, window, { onChange }));
      const leaked = differing.filter((id) => suspects.has(id)).length;
      if (leaked === 0) return;
      this.#note(
        stream.key,
        `${printCountOf(leaked, 'sale')} had changed, but the network did not list the change; the stored sales have been corrected`,
      );
      reports.push(stream.report);
    } catch (error) {
      // An old invalid row must not keep later sales from being read again.
      if (error instanceof BadInput) {
        await stores.pulls.noteReread(stream.key, { completeThroughMs: window.toMs, suspects: [] });
      }
      this.#note(stream.key, await this.#explain(error, stream.key));
    }
  }

  #key(stream: string): StreamKey {
    return { source: this.#name, orgId: this.#options.org?.id ?? 0, stream };
  }

  /** Records a failure that another source must not suffer from. Throws all others. */
  async #explain(error: unknown, key: StreamKey): Promise<string> {
    const isExpected =
      error instanceof SourceStopped ||
      error instanceof RequestFailed ||
      error instanceof BadInput ||
      error instanceof Refused;
    if (!isExpected) throw error;
    if (this.#options.dryRun !== true) await this.#context.stores.pulls.noteFailure(key, error.message);
    return error.message;
  }

  async #pullStream(stream: StreamPull): Promise<void> {
    const { stores, clock } = this.#context;
    const { sinceMs, startMs } = this.#options;
    const { rules, key } = stream;
    // Fixed, because every window would otherwise be followed by another one of a few seconds.
    const nowMs = clock();
    const state = await stores.pulls.find(key);
    stream.completeThroughMs = state?.completeThroughMs ?? undefined;
    const lost = lostMs(rules, stream.completeThroughMs, nowMs);
    if (lost > 0) {
      this.#note(
        key,
        `the network no longer lists what changed in the ${Math.ceil(lost / 86_400_000)} days after ${printTimestamp(stream.completeThroughMs ?? 0)}; sales may be missing`,
      );
    }
    let atMs = sinceMs === undefined ? stream.completeThroughMs : undefined;
    let widthMs = rules.windowMs;
    for (;;) {
      const window = nextWindow(rules, atMs, { startMs: sinceMs ?? startMs, nowMs, widthMs });
      if (window === undefined) return;
      try {
        const counts = await this.#pullWindow(stream, window);
        atMs = window.toMs;
        stream.add(window, counts);
      } catch (error) {
        const half = rules.windowMs / 2;
        const isHalvable = widthMs > half && window.toMs - window.fromMs > half && half > rules.overlapMs;
        // A network may fail because a window has too many sales.
        if (!(error instanceof RequestFailed) || !isHalvable) throw error;
        widthMs = half;
      }
    }
  }

  async #pullWindow(stream: StreamPull, window: PullWindow, how: ImportRules = {}): Promise<PullCounts> {
    using rows = new TemporaryRows();
    using parts = this.#openParts();
    const sales = this.#openSales(rows, parts);
    await this.#walk(stream.rules, window, sales);
    await this.#addEarlier(sales, parts);
    const { fromMs, toMs } = window;
    const title = `${stream.rules.name} ${printTimestamp(fromMs)} – ${printTimestamp(toMs)}`;
    const advance = (writers: TransactionWriters, counts: PullCounts) => {
      const completeThroughMs = Math.max(toMs, stream.completeThroughMs ?? 0);
      return writers.pulls.advance(stream.key, { completeThroughMs, counts });
    };
    return await this.#importRows(title, sales, rows, parts, { ...how, advance });
  }

  /** Converts sales again whose status depends on their age. */
  async #convertDue(): Promise<void> {
    const { stores, clock } = this.#context;
    if (this.#pullable.pull.parts?.dueAfterMs === undefined || this.#options.dryRun === true) return;
    for (;;) {
      const ids = await stores.pulls.dueSales(this.#name, clock(), SALES_PER_LOOK_UP);
      if (ids.length === 0) return;
      using rows = new TemporaryRows();
      using parts = this.#openParts();
      const sales = this.#openSales(rows, parts);
      for (const row of await stores.pulls.rowsOf(this.#name, ids))
        sales.addEarlier(parts?.toNetworkRow(row));
      const advance = (writers: TransactionWriters) => writers.pulls.clearDue(this.#name, ids);
      await this.#importRows('sales whose status depends on their age', sales, rows, parts, { advance });
    }
  }

  #openParts(): PartRows | undefined {
    const { pull, source } = this.#pullable;
    const { org } = this.#options;
    const how = { clickIds: this.#clickIds, nowMs: this.#context.clock() };
    return pull.parts === undefined ? undefined : new PartRows(pull.parts, source, org, how);
  }

  #openSales(rows: TemporaryRows, parts: PartRows | undefined): PulledSales {
    const { source, overlay, pull, coupons } = this.#pullable;
    const { org, skipInvalid } = this.#options;
    // All requests ask for times in UTC, whatever the zone of the operator's files.
    const utc: Source = { ...source, timeZone: 'UTC' };
    const feed = openNetwork(utc, this.#context.clock()).transactions as SaleFeed;
    const rules: TransactionRules = {
      source: utc,
      shares: new Shares(source, overlay),
      coupons,
      organisation: org?.name,
    };
    const onPart = (part: Parameters<PartRows['add']>[0], row: unknown) => parts?.add(part, row);
    return new PulledSales(pull, feed, rules, rows, { skipInvalid, onPart });
  }

  /** Reads all pages of a window. */
  async #walk(rules: PullStream, window: PullWindow, sales: PulledSales): Promise<void> {
    for (let walk = 1; walk <= WALKS_MAX; walk++) {
      if (await this.#walkOnce(rules, window, sales)) return;
    }
    throw new RequestFailed("the network's list keeps changing while it is read");
  }

  /** Returns false if the list has changed during the walk, so that a row may have moved to a page that was already read. */
  async #walkOnce(rules: PullStream, window: PullWindow, sales: PulledSales): Promise<boolean> {
    const { pull } = this.#pullable;
    const visited = new Set<string>();
    let position: string | undefined;
    let total: number | undefined;
    for (let number = 1; number <= PAGES_MAX; number++) {
      const here = position;
      const request = pull.request(rules.name, window, here);
      const { next, found } = await this.#client.fetch(request, async (body, header) => {
        const page = await sales.add(`page ${number}`, body, header);
        return { next: pull.next(page, here), found: pull.readTotal?.(page) };
      });
      this.#options.onRows?.(sales.rowCount);
      if (found !== undefined && total !== undefined && found !== total) return false;
      total ??= found;
      if (next === undefined) return true;
      if (visited.has(next)) throw new RequestFailed("the network's pages refer to each other in a circle");
      visited.add(next);
      position = next;
    }
    throw new RequestFailed('the network has too many pages');
  }

  /** Adds the stored rows of the sales in this walk. */
  async #addEarlier(sales: PulledSales, parts: PartRows | undefined): Promise<void> {
    if (parts === undefined) return;
    const ids = sales.saleIds;
    for (let at = 0; at < ids.length; at += SALES_PER_LOOK_UP) {
      const rows = await this.#context.stores.pulls.rowsOf(this.#name, ids.slice(at, at + SALES_PER_LOOK_UP));
      for (const row of rows) sales.addEarlier(parts.toNetworkRow(row));
    }
  }

  async #importRows(
    title: string,
    sales: PulledSales,
    rows: TemporaryRows,
    parts: PartRows | undefined,
    how: ImportRules & {
      readonly advance: (writers: TransactionWriters, counts: PullCounts) => Promise<void>;
    },
  ): Promise<PullCounts> {
    const { stores, clock } = this.#context;
    const { org, by, version, skipInvalid, aside } = this.#options;
    const dryRun = how.dryRun ?? this.#options.dryRun;
    const converted = await sales.finish();
    await parts?.flush();
    const source = sourceFrom(rows.chunks(), title);
    let counts = NO_COUNTS;
    const run = (importId?: number) =>
      importTransactions(stores.transactions, org, source, clock, {
        ...{ dryRun, skipInvalid, importId, allowEmpty: true },
        attributor: { ids: this.#clickIds, clicks: stores.clicks, aside },
        pulled: {
          begin: ({ pulls }) => pulls.holdLease(this.#lease),
          finish: async (writers, report) => {
            const { added, changed, unchanged, stale } = report;
            const invalid = report.invalid + converted.invalid;
            counts = { added, changed, unchanged: unchanged + stale, invalid };
            await parts?.store(this.#name, writers);
            await how.advance(writers, counts);
          },
          ...(how.onChange === undefined ? {} : { onChange: how.onChange }),
        },
      });
    const origin = {
      kind: 'transactions',
      orgId: org?.id ?? null,
      by,
      source: this.#name,
      fileName: title,
      version,
    } as const;
    const report = dryRun === true ? await run() : await recordImport(stores.imports, origin, source, run);
    if (how.dryRun === true) return counts;
    for (const line of [
      ...printProblems(converted),
      ...converted.notes,
      ...printProblems(report),
      ...report.notes,
    ]) {
      this.#options.onNote?.(`${this.#name}, ${title}: ${line}`);
    }
    return counts;
  }

  #note({ stream }: StreamKey, text: string): void {
    this.#options.onNote?.(`${this.#name}, ${stream}: ${text}`);
  }
}

/** Progress of one stream in this run. */
class StreamPull {
  readonly rules: PullStream;
  readonly key: StreamKey;
  /** As stored. */
  completeThroughMs: number | undefined;
  error: string | null = null;
  #windows = 0;
  #counts = NO_COUNTS;

  constructor(rules: PullStream, key: StreamKey) {
    this.rules = rules;
    this.key = key;
  }

  add({ toMs }: PullWindow, counts: PullCounts): void {
    this.completeThroughMs = Math.max(toMs, this.completeThroughMs ?? 0);
    this.#windows++;
    this.#counts = {
      added: this.#counts.added + counts.added,
      changed: this.#counts.changed + counts.changed,
      unchanged: this.#counts.unchanged + counts.unchanged,
      invalid: this.#counts.invalid + counts.invalid,
    };
  }

  get report(): StreamReport {
    return {
      source: this.key.source,
      stream: this.key.stream,
      completeThroughMs: this.completeThroughMs ?? null,
      windows: this.#windows,
      counts: this.#counts,
      error: this.error,
    };
  }
}
