// Converts the transactions of a network: reads files, joins the parts of sales, and writes rows for `offerbook import
// transactions` to a spool. An invalid row fails the whole conversion, unless invalid rows are skipped.

import { printCountOf } from '@offerbook/wire/count.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import type { FieldProblem } from '@offerbook/wire/rows/raw-row.ts';
import type { ConvertOptions, ConvertReport, RowSpool } from '../convert-report.ts';
import { ConvertRun, type FeedPlace } from '../convert-run.ts';
import { Fields } from '../fields.ts';
import type { FeedFormat, FeedRow } from '../formats/feed-row.ts';
import { PageCheck } from '../formats/page-check.ts';
import type { PartedSaleFeed, Sale, SaleFeed } from '../network.ts';
import { SaleGroups } from './sale-groups.ts';
import { SaleVersions } from './sale-versions.ts';
import { TransactionMaker, type TransactionRules } from './to-transaction.ts';

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
      for (const row of rows)
        conversion.take(row, { line: row.place.line, item: row.place.item, file: file.name });
      await spool.flush();
    }
  }
  conversion.finish();
  if (pages.isPageMissing)
    run.notes.push('A page is missing: a response announces more rows than the files contain.');
  run.requireValid();
  await spool.flush();
  return run.report;
}

class TransactionConversion {
  readonly #run: ConvertRun;
  readonly #feed: SaleFeed;
  readonly #zone: string;
  readonly #maker: TransactionMaker;
  readonly #versions: SaleVersions;
  readonly #groups = new SaleGroups();
  readonly #spool: RowSpool;
  #rowsWithoutSale = 0;
  readonly #formats = new Set<FeedFormat>();

  constructor(run: ConvertRun, feed: SaleFeed, rules: TransactionRules, spool: RowSpool) {
    this.#run = run;
    this.#feed = feed;
    this.#zone = rules.source.timeZone;
    this.#maker = new TransactionMaker(rules);
    this.#spool = spool;
    this.#versions = new SaleVersions(spool);
  }

  take(row: FeedRow, place: FeedPlace): void {
    const fields = new Fields(row.value, this.#zone);
    const feed = this.#feed;
    this.#formats.add(row.format);
    if (row.problem !== undefined) this.#reject(row, place, [row.problem]);
    else if ('readSale' in feed) {
      const sale = feed.readSale(fields, row.format);
      if (fields.problems.length > 0) this.#reject(row, place, fields.problems);
      else this.#takeSale(sale, place);
    } else this.#takePart(feed, row, place, fields);
  }

  finish(): void {
    const feed = this.#feed;
    if ('readPart' in feed) this.#joinGroups(feed);
    const { conflicts, reopened, withoutAmounts, withoutCoupon } = this.#versions.finish();
    for (const { place, id } of conflicts) {
      const reason = 'appears twice with different contents, and the newer version is unknown';
      this.#run.reject(place, id, [{ field: '', reason }]);
    }
    this.#run.counts.written = this.#spool.count;
    for (const format of this.#formats) {
      const note = 'readSale' in feed ? feed.formatNotes?.[format] : undefined;
      if (note !== undefined) this.#run.notes.push(note);
    }
    this.#note('Decided, but pending again at the network', reopened, 'sale', 'The decision is kept');
    this.#note(
      'Declined without amounts in any file',
      withoutAmounts,
      'sale',
      'Their amounts are printed as 0',
    );
    this.#note(
      'With a coupon code that matches no coupon of the catalogue, or several',
      withoutCoupon,
      'sale',
      'Their couponId is null',
    );
    this.#note(
      'Without a readable id',
      this.#rowsWithoutSale,
      'row',
      'They may be missing from the sums of sales',
    );
  }

  #takePart(feed: PartedSaleFeed, row: FeedRow, place: FeedPlace, fields: Fields): void {
    const part = feed.readPart(fields);
    if ('leftOut' in part) this.#run.leaveOut(part.leftOut);
    else if (fields.problems.length === 0) this.#groups.add(part, place);
    else {
      this.#reject(row, place, fields.problems);
      if (part.saleId === '') this.#rowsWithoutSale++;
      else this.#groups.markInvalid(part.saleId, place);
    }
  }

  #joinGroups(feed: PartedSaleFeed): void {
    const fault = feed.findFault?.(this.#groups.parts());
    if (fault !== undefined) throw new BadInput(fault);
    for (const { saleId, place, parts, problems } of this.#groups.takeAll()) {
      const group = new Fields({}, this.#zone, [...problems]);
      const sale = feed.joinParts(parts, group);
      if (group.problems.length > 0) this.#run.reject(place, saleId, group.problems);
      else this.#takeSale(sale, place);
    }
  }

  #takeSale(sale: Sale, place: FeedPlace): void {
    const converted = this.#maker.make(sale);
    if (converted.kind === 'bad') this.#run.reject(place, sale.id, converted.problems);
    else if (converted.kind === 'other organisation') this.#run.leaveOut('sales of other organisations');
    else {
      const { row, lacksCoupon } = converted;
      this.#versions.add({ row, lacksCoupon, version: sale.version ?? 0, place, id: sale.id });
    }
  }

  #reject(row: FeedRow, place: FeedPlace, problems: readonly FieldProblem[]): void {
    const id = new Fields(row.value).findText(this.#feed.idField(row.format));
    this.#run.reject(place, id, problems);
  }

  #note(what: string, count: number, noun: string, consequence: string): void {
    if (count > 0) this.#run.notes.push(`${what}: ${printCountOf(count, noun)}. ${consequence}.`);
  }
}
