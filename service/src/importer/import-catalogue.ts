// Imports the catalogue. The file is the whole of it: what the file no longer has is withdrawn, unless it is
// merged. Guards stand before a file that is too short to be meant.

import { printRetailer, RETAILER_FORMAT, type Retailer, type RetailerFormat } from '../domain/catalogue.ts';
import { printCount, printCountOf } from '../domain/count.ts';
import { Refused } from '../domain/failures.ts';
import type { CatalogueStore, CatalogueWriter, StoredDocument } from '../domain/stores.ts';
import type { Uuid } from '../domain/uuid.ts';
import { findSharedDeals } from './checks/find-shared-deals.ts';
import { RetailerCheck } from './checks/retailer-check.ts';
import { printPlace, rowProblem } from './checks/row-problem.ts';
import type { ImportSource } from './formats/import-source.ts';
import type { FieldProblem, RawRow } from './formats/raw-row.ts';
import { findDocumentExcess, RETAILER_LIMITS } from './formats/row-limits.ts';
import { type ImportReport, type WholeFileOptions, WITHDRAWN_PART_MAX } from './import-report.ts';
import { ImportRun } from './import-run.ts';

export function importCatalogue(
  store: CatalogueStore,
  source: ImportSource,
  options: WholeFileOptions,
  format: RetailerFormat = RETAILER_FORMAT,
): Promise<ImportReport> {
  const run = new ImportRun(source, options);
  return run.carryOut<CatalogueWriter>(
    (work) => store.write(work, options.importId),
    async (writer) => {
      const load = new CatalogueLoad(run, store, writer, options, format);
      const before = await writer.ids();
      const rules = { columns: undefined, limits: RETAILER_LIMITS, onCursor: () => load.meetCursor() };
      for await (const batch of run.batches(rules)) await load.take(batch);
      run.requireValid();
      if (options.merge !== true) await load.withdraw(before);
      if (options.merge === true || run.counts.invalid > 0) await load.refuseSharedDeals();
      await load.finish();
    },
  );
}

class CatalogueLoad {
  readonly #run: ImportRun;
  /** What it reads is the catalogue as it was: nobody else may write meanwhile. */
  readonly #store: CatalogueStore;
  readonly #writer: CatalogueWriter;
  readonly #options: WholeFileOptions;
  readonly #format: RetailerFormat;
  readonly #check: RetailerCheck;

  constructor(
    run: ImportRun,
    store: CatalogueStore,
    writer: CatalogueWriter,
    options: WholeFileOptions,
    format: RetailerFormat,
  ) {
    this.#run = run;
    this.#store = store;
    this.#writer = writer;
    this.#options = options;
    this.#format = format;
    this.#check = new RetailerCheck(format, options.ignoreUnknown === true ? 'ignore' : 'refuse');
  }

  /** A page of a longer list, taken for the whole catalogue, would withdraw all the rest. */
  meetCursor(): void {
    if (this.#options.merge === true) return;
    throw new Refused(
      'this file is one page of a longer list (it has a cursor), not the whole catalogue; nothing was imported. Import all pages as one file, or add --merge',
    );
  }

  async take(batch: readonly RawRow[]): Promise<void> {
    const retailers: Retailer[] = [];
    for (const raw of batch) {
      const { value, problems } = this.#check.check(raw);
      if (problems !== undefined) this.#run.reject(problems);
      else retailers.push(value);
    }
    const stored = await this.#writer.find(retailers.map((retailer) => retailer.id));
    const written: StoredDocument[] = [];
    for (const retailer of retailers) {
      const before = stored.get(retailer.id);
      const document = printRetailer(this.#merged(retailer, before));
      const excess = findDocumentExcess(document, RETAILER_LIMITS);
      if (excess !== undefined) this.#refuseLong(retailer.id, excess);
      const outcome = this.#compare(document, before);
      this.#run.counts[outcome]++;
      if (outcome !== 'unchanged') written.push({ id: retailer.id, document });
    }
    if (written.length > 0 && this.#run.isWriting) await this.#writer.put(written);
  }

  /** By value: a stored document may have another text for the same, because it is older than some of the fields. */
  #compare(document: string, before: string | undefined): 'added' | 'changed' | 'unchanged' {
    if (before === undefined) return 'added';
    if (document === before) return 'unchanged';
    return document === printRetailer(this.#format.parseStored(before)) ? 'unchanged' : 'changed';
  }

  async withdraw(before: readonly Uuid[]): Promise<void> {
    const gone = before.filter((id) => !this.#check.retailers.has(id));
    if (gone.length === 0) return;
    const nameless = this.#check.firstNamelessRow;
    if (nameless !== undefined) {
      const [are, them] = gone.length === 1 ? ['is', 'it'] : ['are', 'any of them'];
      this.#run.notes.push(
        `Nothing was withdrawn, although ${printCountOf(gone.length, 'retailer')} ${are} not in the file: the row on ${printPlace(nameless)} has no readable id and may stand for ${them}.`,
      );
      return;
    }
    if (gone.length > before.length * WITHDRAWN_PART_MAX && this.#options.allowWithdrawals !== true) {
      throw new Refused(
        `this file would withdraw ${printCount(gone.length)} of ${printCountOf(before.length, 'retailer')}, more than half; nothing was imported. A file is the whole catalogue: one that comes from several files, such as one for each network, is imported as one. If the retailers are gone, add --allow-withdrawals`,
      );
    }
    await this.#writer.remove(gone);
    this.#run.counts.withdrawn = gone.length;
  }

  /**
   * Refuses deals that would belong to two retailers. Needed when retailers stay beside those of the file. Such a row
   * cannot be skipped: its retailer would stay as it was, too, and with it deals that other rows have taken.
   */
  async refuseSharedDeals(): Promise<void> {
    const problems = await findSharedDeals(this.#store, this.#check, (id) => this.#keepsDeals(id));
    if (problems.length === 0) return;
    const rows = `${printCountOf(problems.length, 'row')} ${problems.length === 1 ? 'lists' : 'list'}`;
    this.#run.refuse(problems, `${rows} deals of retailers that keep them`);
  }

  /** Whether a retailer has the deals that it had before, whatever the file says. */
  #keepsDeals(id: Uuid): boolean {
    if (this.#options.merge === true || this.#check.hasBadRow(id)) return true;
    // Those that the file does not have are withdrawn all together or not at all.
    return !this.#check.retailers.has(id) && this.#run.counts.withdrawn === 0;
  }

  async finish(): Promise<void> {
    const { added, changed, withdrawn } = this.#run.counts;
    if (added + changed + withdrawn > 0) await this.#writer.markChanged();
  }

  /** Not skipped like other bad rows: the retailer's deals have been taken for good already. */
  #refuseLong(id: Uuid, excess: FieldProblem): never {
    const place = this.#check.retailers.get(id) ?? { line: 0 };
    this.#run.refuse([rowProblem(place, excess)], 'a retailer is too long');
  }

  #merged(row: Retailer, before: string | undefined): Retailer {
    if (this.#options.merge !== true || before === undefined) return row;
    const stored = this.#format.parseStored(before);
    return {
      ...row,
      cashbackOffers: withKept(row.cashbackOffers, stored.cashbackOffers),
      coupons: withKept(row.coupons, stored.coupons),
      promotions: withKept(row.promotions, stored.promotions),
    };
  }
}

/** The row's deals and those of the stored ones that the row does not list. */
function withKept<Deal extends { id: Uuid }>(deals: readonly Deal[], stored: readonly Deal[]): Deal[] {
  const listed = new Set(deals.map((deal) => deal.id));
  return [...deals, ...stored.filter((deal) => !listed.has(deal.id))];
}
