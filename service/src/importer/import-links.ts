// Imports links: where clicks on retailers and deals lead. The file has all of them: a link that it no longer has is
// withdrawn, unless it is merged. Retailers and deals need not be in the catalogue, which has an import of its own.

import { z } from 'zod';
import { templateProblem } from '../activation/link-template.ts';
import { printCount, printCountOf } from '../domain/count.ts';
import { Refused } from '../domain/failures.ts';
import type { Link, LinkStore, LinkWriter } from '../domain/stores.ts';
import type { Uuid } from '../domain/uuid.ts';
import { OBJECT, text, uuid } from '../domain/wire.ts';
import { type CheckedRow, checkRow, printPlace, rejected } from './checks/row-problem.ts';
import { UuidPlaces } from './checks/uuid-places.ts';
import type { Columns } from './formats/csv.ts';
import type { ImportSource } from './formats/import-source.ts';
import type { RawRow } from './formats/raw-row.ts';
import { TRANSACTION_LIMITS } from './formats/row-limits.ts';
import { type ImportReport, type WholeFileOptions, WITHDRAWN_PART_MAX } from './import-report.ts';
import { ImportRun } from './import-run.ts';

const FIELDS = {
  retailerId: uuid('Retailer identifier', '0192d1a0-0000-7000-8000-000000000001').nullish(),
  dealId: uuid(
    'Identifier of an offer, a coupon or a promotion',
    '0192d1a0-0000-7000-8000-000000000011',
  ).nullish(),
  template: text('Where a click leads', 'https://network.example/click?sub={click}').check((payload) => {
    const message = templateProblem(payload.value);
    if (message !== undefined) payload.issues.push({ code: 'custom', message, input: payload.value });
  }),
};

const COLUMNS: Columns = new Map(Object.keys(FIELDS).map((name) => [name, 'text']));

export function importLinks(
  store: LinkStore,
  source: ImportSource,
  options: WholeFileOptions,
): Promise<ImportReport> {
  const run = new ImportRun(source, options);
  return run.carryOut<LinkWriter>(
    (work) => store.write(work, options.importId),
    async (writer) => {
      const load = new LinkLoad(run, writer, await writer.list(), options);
      const rules = { columns: COLUMNS, limits: TRANSACTION_LIMITS };
      for await (const batch of run.batches(rules)) await load.take(batch);
      run.requireValid();
      if (options.merge !== true) await load.withdraw();
      await load.finish();
    },
  );
}

class LinkLoad {
  readonly #run: ImportRun;
  readonly #writer: LinkWriter;
  readonly #before: ReadonlyMap<Uuid, Link>;
  readonly #options: WholeFileOptions;
  readonly #schema;
  readonly #seen = new UuidPlaces();

  constructor(run: ImportRun, writer: LinkWriter, before: readonly Link[], options: WholeFileOptions) {
    this.#run = run;
    this.#writer = writer;
    this.#before = new Map(before.map((link) => [link.id, link]));
    this.#options = options;
    this.#schema = options.ignoreUnknown === true ? z.object(FIELDS, OBJECT) : z.strictObject(FIELDS, OBJECT);
  }

  async take(batch: readonly RawRow[]): Promise<void> {
    const written: Link[] = [];
    for (const raw of batch) {
      const { value: link, problems } = this.#check(raw);
      if (problems !== undefined) {
        this.#run.reject(problems);
        continue;
      }
      const before = this.#before.get(link.id);
      const outcome = before === undefined ? 'added' : Bun.deepEquals(before, link) ? 'unchanged' : 'changed';
      this.#run.counts[outcome]++;
      if (outcome !== 'unchanged') written.push(link);
    }
    if (written.length > 0 && this.#run.isWriting) await this.#writer.put(written);
  }

  async withdraw(): Promise<void> {
    // A bad row that was skipped may stand for any of them.
    if (this.#run.counts.invalid > 0) {
      this.#run.notes.push('Nothing was withdrawn, because the file has bad rows.');
      return;
    }
    const gone = [...this.#before.keys()].filter((id) => !this.#seen.has(id));
    if (gone.length === 0) return;
    if (gone.length > this.#before.size * WITHDRAWN_PART_MAX && this.#options.allowWithdrawals !== true) {
      throw new Refused(
        `this file would withdraw ${printCount(gone.length)} of ${printCountOf(this.#before.size, 'link')}, more than half; nothing was imported. If that is meant, add --allow-withdrawals`,
      );
    }
    await this.#writer.remove(gone);
    this.#run.counts.withdrawn = gone.length;
  }

  async finish(): Promise<void> {
    const { added, changed, withdrawn } = this.#run.counts;
    if (added + changed + withdrawn > 0) await this.#writer.markChanged();
  }

  #check(raw: RawRow): CheckedRow<Link> {
    const row = checkRow(raw, this.#schema);
    if (row.value === undefined) return row;
    const { retailerId, dealId, template } = row.value;
    const id = retailerId ?? dealId;
    if (id == null || (retailerId != null && dealId != null)) {
      return rejected(row.place, [{ field: '', reason: 'must have either retailerId or dealId' }]);
    }
    const kind = retailerId == null ? 'deal' : 'retailer';
    const first = this.#seen.add(id, row.place);
    if (first !== undefined) {
      return rejected(row.place, [
        { field: `${kind}Id`, reason: `was already used on ${printPlace(first)}` },
      ]);
    }
    return { place: row.place, value: { id, kind, template }, problems: undefined };
  }
}
