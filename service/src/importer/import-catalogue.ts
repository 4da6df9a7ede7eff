// Imports the catalogue. A file contains the whole catalogue, except for retailers that were pulled from networks, and a pull
// contains the whole catalogue of its source. Retailers that are missing from it are withdrawn, except in a merge. Input that
// looks truncated is rejected.

import { printRetailer, type Retailer } from '@offerbook/wire/catalogue.ts';
import { printCountOf } from '@offerbook/wire/count.ts';
import { type DealList, forEachDealList } from '@offerbook/wire/deals.ts';
import { Refused } from '@offerbook/wire/failures.ts';
import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import type { RawRow } from '@offerbook/wire/rows/raw-row.ts';
import { findDocumentExcess, RETAILER_LIMITS } from '@offerbook/wire/rows/row-limits.ts';
import { printPlace, rowProblem } from '@offerbook/wire/rows/row-problem.ts';
import { parseSiteDomain } from '@offerbook/wire/site-domain.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { CatalogueStore, CatalogueWriter } from '../domain/catalogue.ts';
import type { StoredDocument } from '../domain/stored-document.ts';
import { dealLosses } from './checks/deal-losses.ts';
import { findSharedDeals } from './checks/find-shared-deals.ts';
import { RetailerCheck } from './checks/retailer-check.ts';
import type { ImportReport, WholeFileOptions } from './import-report.ts';
import { ImportRun } from './import-run.ts';

export interface CatalogueImportOptions extends WholeFileOptions {
  /** Set if the rows were pulled from a network. */
  readonly pulled?:
    | {
        /** Network and account, such as `awin:77777`. */
        readonly source: string;
        readonly nowMs: number;
        /** Runs at the end of the import's transaction. */
        finish(writer: CatalogueWriter, report: ImportReport): Promise<void>;
      }
    | undefined;
}

export function importCatalogue(
  store: CatalogueStore,
  source: ImportSource,
  options: CatalogueImportOptions,
): Promise<ImportReport> {
  const run = new ImportRun(source, options);
  const { pulled, merge: isMerge = false, ignoreUnknown = false } = options;
  const pulledFrom = pulled?.source ?? null;
  const check = new RetailerCheck(ignoreUnknown ? 'ignore' : 'refuse');
  const losses = pulled === undefined || isMerge ? undefined : dealLosses(pulled.nowMs);
  /** Number of retailers in the file by the domain of their site. */
  const domains = new Map<string, number>();

  /** `own` has the stored retailers that this import replaces. */
  async function writeBatch(
    writer: CatalogueWriter,
    batch: readonly RawRow[],
    own: ReadonlySet<Uuid>,
  ): Promise<void> {
    const retailers: Retailer[] = [];
    for (const raw of batch) {
      const { value, problems } = check.check(raw);
      if (problems !== undefined) run.reject(problems);
      else retailers.push(value);
    }
    const stored = await writer.find(retailers.map((retailer) => retailer.id));
    const written: StoredDocument[] = [];
    for (const retailer of retailers) {
      const { id } = retailer;
      const domain = parseSiteDomain(retailer.hostname);
      if (domain !== undefined) domains.set(domain, (domains.get(domain) ?? 0) + 1);
      const before = stored.get(id);
      const isMerged = isMerge && before !== undefined;
      const document = printRetailer(isMerged ? merged(retailer, JSON.parse(before)) : retailer);
      const excess = findDocumentExcess(document, RETAILER_LIMITS);
      // The row can no longer be skipped, because its deals are already registered.
      if (excess !== undefined)
        run.refuse([rowProblem(check.retailers.get(id) ?? { line: 0 }, excess)], 'a retailer is too long');
      const outcome = before === undefined ? 'added' : document === before ? 'unchanged' : 'changed';
      run.counts[outcome]++;
      losses?.compare(before, retailer, outcome === 'unchanged');
      // A pull takes over retailers that were imported from a file earlier.
      if (outcome !== 'unchanged' || (pulledFrom !== null && !own.has(id))) written.push({ id, document });
    }
    if (written.length > 0 && run.isWriting) await writer.put(written, pulledFrom);
  }

  async function withdraw(writer: CatalogueWriter, own: ReadonlySet<Uuid>): Promise<void> {
    const gone = [...own].filter((id) => !check.retailers.has(id));
    const nameless = check.firstNamelessRow;
    if (gone.length > 0 && nameless !== undefined) {
      const [are, them] = gone.length === 1 ? ['is', 'it'] : ['are', 'any of them'];
      run.notes.push(
        `Nothing was withdrawn, although ${printCountOf(gone.length, 'retailer')} ${are} not in the file: the row on ${printPlace(nameless)} has no readable id and may be ${them}.`,
      );
      return;
    }
    const messages =
      pulledFrom === null
        ? { advice: FILE_ADVICE }
        : { what: `the catalogue of ${pulledFrom}`, advice: PULL_ADVICE };
    await run.withdraw(writer, gone, { total: own.size, noun: 'retailer', ...messages });
  }

  /**
   * Rejects the file if a deal would belong to two retailers. Such a row cannot be skipped: the retailer would keep its stored
   * deals, and another row may list the same deals. The store still returns the catalogue from before this import.
   */
  async function refuseSharedDeals(own: ReadonlySet<Uuid>): Promise<void> {
    /** True if the retailer keeps its stored deals. */
    const keepsDeals = (id: Uuid) =>
      isMerge ||
      check.hasOnlyInvalidRows(id) ||
      // An import withdraws all of its own retailers that are missing from the file, or none.
      (!check.retailers.has(id) && (run.counts.withdrawn === 0 || !own.has(id)));
    const problems = await findSharedDeals(store, check, keepsDeals);
    if (problems.length === 0) return;
    const rows = `${printCountOf(problems.length, 'row')} ${problems.length === 1 ? 'lists' : 'list'}`;
    run.refuse(problems, `${rows} deals that belong to other retailers`);
  }

  return run.carryOut<CatalogueWriter>(
    (work) => store.write(work, options.importId),
    async (writer) => {
      const sources = await writer.sources();
      const own = new Set(sources.keys().filter((id) => sources.get(id) === pulledFrom));
      const onCursor = isMerge ? undefined : refusePage;
      const rules = { columns: undefined, limits: RETAILER_LIMITS, onCursor };
      for await (const batch of run.batches(rules)) await writeBatch(writer, batch, own);
      run.requireValid();
      if (!isMerge) await withdraw(writer, own);
      if (options.allowWithdrawals !== true) losses?.requireFew(`the catalogue of ${pulledFrom}`);
      // Without --merge, a valid file replaces all of its stored retailers, so it cannot share deals with them.
      if (isMerge || run.counts.invalid > 0 || sources.size > own.size) await refuseSharedDeals(own);
      noteSharedDomains(run, domains);
      if (run.hasChanges) await writer.markChanged();
      await pulled?.finish(writer, run.report);
    },
  );
}

const FILE_ADVICE =
  'The file must contain the whole catalogue, so combine the files of several networks into one. If the retailers are gone';
const PULL_ADVICE = 'The network may have sent an incomplete catalogue. If the retailers are gone';

/** Importing one page as the whole catalogue would withdraw everything else. */
function refusePage(): never {
  throw new Refused(
    'this file is one page of a longer list (it has a cursor), not the whole catalogue; nothing was imported. Import all pages as one file, or add --merge',
  );
}

/** Look-ups return only one of these retailers, and browser extensions show none. */
function noteSharedDomains(run: ImportRun, domains: ReadonlyMap<string, number>): void {
  const shared = [...domains].filter(([, count]) => count > 1).map(([domain]) => domain);
  if (shared.length === 0) return;
  const more = shared.length > 1 ? ` (and ${printCountOf(shared.length - 1, 'other domain')})` : '';
  run.notes.push(
    `Several retailers have the domain ${shared[0]}${more}: browser extensions show the cashback of none of them.`,
  );
}

function merged(row: Retailer, stored: Retailer): Retailer {
  const deals = forEachDealList((list) => withKept<{ id: Uuid }>(row[list], stored[list]));
  return { ...row, ...(deals as Pick<Retailer, DealList>) };
}

/** Appends the stored deals that the row does not list. */
function withKept<Deal extends { id: Uuid }>(deals: readonly Deal[], stored: readonly Deal[]): Deal[] {
  const listed = new Set(deals.map((deal) => deal.id));
  return [...deals, ...stored.filter((deal) => !listed.has(deal.id))];
}
