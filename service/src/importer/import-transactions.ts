// Imports an organisation's transactions: upserts by id, and leaves alone what has not changed, so that
// importing a file twice gives no poller anything to do.

import type { Clock } from '../domain/clock.ts';
import type {
  Organisation,
  PutTransaction,
  StoredTransaction,
  TransactionStore,
  TransactionWriter,
} from '../domain/stores.ts';
import { printTimestamp, type Timestamp, timestampMs } from '../domain/timestamp.ts';
import {
  mayBecome,
  TRANSACTION_FORMAT,
  type TransactionFormat,
  type UnstampedTransaction,
} from '../domain/transaction.ts';
import type { Uuid } from '../domain/uuid.ts';
import { type CheckedRow, checkRow, printPlace, rejected, rowProblem } from './checks/row-problem.ts';
import { UuidPlaces } from './checks/uuid-places.ts';
import type { ImportSource } from './formats/import-source.ts';
import type { FieldProblem, RawRow } from './formats/raw-row.ts';
import { findDocumentExcess, TRANSACTION_LIMITS } from './formats/row-limits.ts';
import type { ImportOptions, ImportReport } from './import-report.ts';
import { ImportRun, readAhead } from './import-run.ts';

/**
 * How many batches are looked up before their turn, so that the database has always something to do while rows are
 * read and checked. No id comes twice in a file, so what is written in between changes no answer.
 */
const LOOK_UPS_AHEAD = 4;

export interface TransactionImportOptions extends ImportOptions {
  /** A history load: rows keep the file's updatedAt, which puts them outside the promise made to pollers. */
  readonly preserveUpdatedAt?: boolean | undefined;
}

export function importTransactions(
  store: TransactionStore,
  org: Organisation,
  source: ImportSource,
  clock: Clock,
  options: TransactionImportOptions,
  format: TransactionFormat = TRANSACTION_FORMAT,
): Promise<ImportReport> {
  const run = new ImportRun(source, options);
  if (options.preserveUpdatedAt === true) {
    run.notes.push(
      'The rows kept the updatedAt of the file: whoever polls for changes will not see those that lie before the point they have reached.',
    );
  }
  return run.carryOut<TransactionWriter>(
    (work) => store.write(org.id, work, options.importId),
    async (writer) => {
      const load = new TransactionLoad(run, writer, org, clock(), options, format);
      const ahead: Promise<LookedUp>[] = [];
      const rules = { columns: format.fieldKinds, limits: TRANSACTION_LIMITS, onCursor: () => undefined };
      for await (const batch of readAhead(run.batches(rules))) {
        const lookedUp = load.lookUp(batch);
        // An error counts when its turn comes.
        lookedUp.catch(() => undefined);
        ahead.push(lookedUp);
        if (ahead.length > LOOK_UPS_AHEAD) {
          const next = await ahead.shift();
          if (next !== undefined) await load.take(next);
        }
      }
      for (const lookedUp of ahead) await load.take(await lookedUp);
      run.requireValid();
      await load.finish();
    },
  );
}

/** A row that passed the schema. Its updatedAt is there only in a history load. */
type Row = UnstampedTransaction & { readonly updatedAt?: unknown };

/** A batch of checked rows, and what the database holds under their ids. */
interface LookedUp {
  readonly rows: readonly CheckedRow<Row>[];
  readonly stored: ReadonlyMap<Uuid, StoredTransaction>;
}

class TransactionLoad {
  readonly #run: ImportRun;
  readonly #writer: TransactionWriter;
  readonly #org: Organisation;
  readonly #nowMs: number;
  readonly #preserve: boolean;
  readonly #format: TransactionFormat;
  readonly #schema: ReturnType<TransactionFormat['rowSchema']>;
  readonly #isPrinted: (value: unknown) => boolean;
  readonly #seen = new UuidPlaces();
  readonly #stampText: Timestamp;
  /** How far the change clock moves, when there was a change. */
  #clockMs: number | undefined;

  constructor(
    run: ImportRun,
    writer: TransactionWriter,
    org: Organisation,
    nowMs: number,
    options: TransactionImportOptions,
    format: TransactionFormat,
  ) {
    this.#run = run;
    this.#writer = writer;
    this.#org = org;
    this.#nowMs = nowMs;
    this.#preserve = options.preserveUpdatedAt === true;
    const updatedAt = this.#preserve ? 'keep' : 'ignore';
    const unknownFields = options.ignoreUnknown === true ? 'ignore' : 'refuse';
    this.#format = format;
    this.#schema = format.rowSchema({ unknownFields, updatedAt });
    this.#isPrinted = format.printedRow({ updatedAt });
    this.#stampText = printTimestamp(writer.stampMs);
  }

  async lookUp(batch: readonly RawRow[]): Promise<LookedUp> {
    const rows = batch.map((row) => this.#check(row));
    const ids = rows.flatMap((row) => (row.value === undefined ? [] : [row.value.id]));
    return { rows, stored: await this.#writer.find(ids) };
  }

  async take({ rows, stored }: LookedUp): Promise<void> {
    const changed: PutTransaction[] = [];
    for (const { place, value, problems } of rows) {
      if (problems !== undefined) {
        this.#run.reject(problems);
        continue;
      }
      const existing = stored.get(value.id);
      const outcome = this.#judge(value, existing);
      if ('reason' in outcome) this.#run.reject([rowProblem(place, outcome)]);
      else if (outcome === existing) this.#run.counts.unchanged++;
      else {
        this.#run.counts[existing === undefined ? 'added' : 'changed']++;
        changed.push({ ...outcome, isNew: existing === undefined });
      }
    }
    if (changed.length > 0 && this.#run.isWriting) await this.#put(changed);
  }

  /** Moves the change clock, but only when there was a change: an idle import wakes nobody. */
  async finish(): Promise<void> {
    if (this.#clockMs !== undefined) await this.#writer.advanceClock(this.#clockMs);
  }

  #check(raw: RawRow): CheckedRow<Row> {
    const row = this.#checkFields(raw);
    if (row.value === undefined) return row;
    const { id, updatedAt } = row.value;
    const first = this.#seen.add(id, row.place);
    if (first !== undefined) {
      return rejected(row.place, [{ field: 'id', reason: `was already used on ${printPlace(first)}` }]);
    }
    if (this.#preserve && timestampMs(updatedAt as Timestamp) > this.#nowMs) {
      return rejected(row.place, [{ field: 'updatedAt', reason: 'must not be in the future' }]);
    }
    return row;
  }

  #checkFields(raw: RawRow): CheckedRow<Row> {
    if (raw.problem === undefined && this.#isPrinted(raw.value)) {
      return { place: raw.place, value: raw.value as Row, problems: undefined };
    }
    return checkRow<Row>(raw, this.#schema);
  }

  /** What is to be stored for a row: what is stored already when nothing changed; or why the row is bad. */
  #judge(row: Row, existing: StoredTransaction | undefined): Omit<StoredTransaction, 'orgId'> | FieldProblem {
    if (existing === undefined) return this.#stamp(row);
    // Whose it is stays unsaid: the ids of one organisation are no business of another.
    if (existing.orgId !== this.#org.id) return { field: 'id', reason: 'belongs to another organisation' };
    const { document, updatedAtMs } = existing;
    const hasItsStamp = !this.#preserve || timestampMs(row.updatedAt as Timestamp) === updatedAtMs;
    // Nearly all rows that did not change are stored in the very text that would be stored now.
    if (hasItsStamp && this.#format.print(row, printTimestamp(updatedAtMs)) === document) return existing;
    const before = this.#format.parseStored(document);
    if (hasItsStamp && this.#format.isSame(row, before)) return existing;
    if (!mayBecome(before.status, row.status)) {
      return { field: 'status', reason: `must not go from ${before.status} back to ${row.status}` };
    }
    return this.#stamp(row);
  }

  #stamp(row: Row): Omit<StoredTransaction, 'orgId'> | FieldProblem {
    const updatedAt = this.#preserve ? (row.updatedAt as Timestamp) : this.#stampText;
    const updatedAtMs = this.#preserve ? timestampMs(updatedAt) : this.#writer.stampMs;
    const document = this.#format.print(row, updatedAt);
    return findDocumentExcess(document, TRANSACTION_LIMITS) ?? { id: row.id, updatedAtMs, document };
  }

  async #put(rows: readonly PutTransaction[]): Promise<void> {
    for (const { updatedAtMs, isNew } of rows) {
      // What a history load replaces is replaced at the stamp of the load, whatever stamps its rows carry. A walk that
      // begins later must not take that for a change during the walk.
      const reachedMs = isNew === true ? updatedAtMs : this.#writer.stampMs;
      this.#clockMs = Math.max(this.#clockMs ?? reachedMs, reachedMs);
    }
    await this.#writer.put(rows);
  }
}
