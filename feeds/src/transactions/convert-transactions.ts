// Converts a network's transactions: reads files, joins the parts of sales, and writes rows for `offerbook import
// transactions` to a spool.

import { printCount } from '@offerbook/wire/count.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import { timestampMs } from '@offerbook/wire/timestamp.ts';
import {
  type ConvertOptions,
  type ConvertReport,
  ConvertRun,
  type FeedPlace,
  type RowSpool,
} from '../convert-run.ts';
import { Fields } from '../fields.ts';
import type { FeedRow } from '../formats/feed-row.ts';
import { PageCheck } from '../formats/page-check.ts';
import type { PartedSaleFeed, Sale, SaleFeed, SalePart } from '../network.ts';
import type { PageRules, PulledPage } from '../pull/network-pull.ts';
import { readPage } from '../pull/read-page.ts';
import { openShares } from '../source/share.ts';
import { CONFLICT, type SaleGroups, saleGroups } from './sale-groups.ts';
import { type SaleVersions, saleVersions } from './sale-versions.ts';
import { type SaleRules, type TransactionRules, toTransaction } from './to-transaction.ts';

export async function convertTransactions(
  feed: SaleFeed,
  rules: TransactionRules,
  files: readonly ImportSource[],
  spool: RowSpool,
  options: ConvertOptions,
): Promise<ConvertReport> {
  const run = new ConvertRun(files, options);
  const conversion = new TransactionConversion(run, feed, rules, spool);
  const pages = new PageCheck();
  for (const file of files) {
    for await (const rows of run.rows(file, feed.shape, pages)) {
      for (const row of rows) conversion.add(row, file.name);
      await spool.flush();
    }
  }
  if (pages.isPageMissing)
    run.notes.push('A page is missing: a response announces more rows than the files contain.');
  return conversion.finish();
}

/** Options for rows that are fetched from a network, each later than the rows before it. */
interface PullRules {
  readonly pages: PageRules;
  /** Called with every valid part of a sale, and the network's row. */
  readonly onPart?: ((part: SalePart, row: unknown) => void) | undefined;
}

const UNMATCHED_CODES = 'Sales whose coupon code does not match exactly one coupon of the catalogue';

export class TransactionConversion {
  readonly #run: ConvertRun;
  readonly #feed: SaleFeed;
  readonly #spool: RowSpool;
  readonly #rules: SaleRules;
  readonly #pull: PullRules | undefined;
  readonly #versions: SaleVersions;
  readonly #groups: SaleGroups;
  #hasCsv = false;
  #partsWithoutId = 0;
  #rowsWithoutUser = 0;

  constructor(run: ConvertRun, feed: SaleFeed, rules: TransactionRules, spool: RowSpool, pull?: PullRules) {
    this.#run = run;
    this.#feed = feed;
    this.#rules = { ...rules, shares: openShares(rules.source, rules.overlay) };
    this.#spool = spool;
    this.#pull = pull;
    this.#versions = saleVersions(spool, pull !== undefined);
    this.#groups = saleGroups(pull !== undefined);
  }

  get rowCount(): number {
    return this.#run.counts.read;
  }

  /** Ids of all sales with at least one added part. */
  get saleIds(): string[] {
    return this.#groups.saleIds;
  }

  /** Adds a part that an earlier pull has read. A part with the same id that this pull has read takes precedence. */
  addEarlier(value: unknown): void {
    if (!('readPart' in this.#feed)) return;
    const part = this.#feed.readPart(new Fields(value, this.#rules.source.timeZone));
    if (!('leftOut' in part)) this.#groups.addEarlier(part, { line: 0, file: 'an earlier pull' });
  }

  /**
   * Adds the rows of a network's response. Throws BrokenFile if the response is truncated or is not the expected document. A
   * truncated response is requested again, so its first rows may be added twice.
   */
  async addPage(
    file: string,
    body: AsyncIterable<Uint8Array>,
    header: PulledPage['header'],
  ): Promise<PulledPage> {
    const page = await readPage(body, header, this.#feed.shape, this.#pull?.pages ?? {}, async (rows) => {
      for (const row of rows) this.add(row, file);
      this.#run.counts.read += rows.length;
      await this.#spool.flush();
    });
    return page ?? { rowCount: 0, response: undefined, info: {}, header };
  }

  add(row: FeedRow, file: string): void {
    const place = { ...row.place, file };
    this.#hasCsv ||= row.format === 'CSV';
    const feed = this.#feed;
    const fields = new Fields(row.value, this.#rules.source.timeZone);
    if ('readPart' in feed) {
      this.#addPart(feed, row, fields, place);
      return;
    }
    const sale = feed.readSale(fields, row.format);
    const problems = row.problem === undefined ? fields.problems : [row.problem];
    if (problems.length > 0) this.#run.reject(place, sale.id, problems);
    else this.#addSale(sale, place);
  }

  #addPart(feed: PartedSaleFeed, row: FeedRow, fields: Fields, place: FeedPlace): void {
    const part = feed.readPart(fields);
    if ('leftOut' in part) {
      this.#run.leaveOut(part.leftOut);
      return;
    }
    const problems = row.problem === undefined ? fields.problems : [row.problem];
    if (problems.length === 0) {
      this.#groups.add(part, place);
      this.#pull?.onPart?.(part, row.value);
    } else {
      this.#run.reject(place, part.saleId, problems);
      if (part.saleId === '') this.#partsWithoutId++;
      else this.#groups.markInvalid(part.saleId, place);
    }
  }

  /** Joins sales, writes the remaining rows and returns the report. Throws if there are invalid rows that are not skipped. */
  async finish(): Promise<ConvertReport> {
    const feed = this.#feed;
    if ('readPart' in feed) this.#joinGroups(feed);
    else if (this.#hasCsv && feed.csvNote !== undefined) this.#run.notes.push(feed.csvNote);
    const { conflicts, reopened, withoutAmounts, withoutCoupon } = this.#versions.finish();
    for (const { place, id } of conflicts) this.#run.reject(place, id, [{ field: '', reason: CONFLICT }]);
    const notes: [what: string, count: number, consequence: string][] = [
      ['Sales that were decided and are pending again at the network', reopened, 'Their decisions are kept'],
      ['Declined sales without amounts in any file', withoutAmounts, 'Their amounts are 0'],
      [UNMATCHED_CODES, withoutCoupon, 'Their couponId is null'],
      ['Rows without a sale id', this.#partsWithoutId, 'The totals of their sales do not include them'],
      ['Sub-ids that cannot be a passbackUid', this.#rowsWithoutUser, 'Their sales have no user'],
    ];
    for (const [what, count, consequence] of notes)
      if (count > 0) this.#run.notes.push(`${what}: ${printCount(count)}. ${consequence}.`);
    return this.#run.finish(this.#spool);
  }

  #joinGroups(feed: PartedSaleFeed): void {
    const conflict = feed.findConflict?.(this.#groups.parts());
    if (conflict !== undefined) throw new BadInput(conflict);
    for (const { place, parts, problems } of this.#groups.takeValid()) {
      const lack = this.#pull && feed.findLack?.(parts);
      if (lack !== undefined) {
        this.#run.leaveOut(lack);
        continue;
      }
      const group = new Fields({}, this.#rules.source.timeZone, problems);
      const sale = feed.joinParts(parts, group);
      if (group.problems.length > 0) this.#run.reject(place, sale.id, group.problems);
      else this.#addSale(sale, place);
    }
  }

  #addSale(sale: Sale, place: FeedPlace): void {
    const converted = toTransaction(sale, this.#rules);
    if (converted === 'other organisation') this.#run.leaveOut('sales of other organisations');
    else if (converted.problems !== undefined) this.#run.reject(place, sale.id, converted.problems);
    else {
      const { row, lacksCoupon, lacksUser } = converted;
      if (lacksUser) this.#rowsWithoutUser++;
      const version = sale.version ?? (sale.changedAt === undefined ? 0 : timestampMs(sale.changedAt));
      this.#versions.add({ row, lacksCoupon, version, place, id: sale.id });
    }
  }
}
