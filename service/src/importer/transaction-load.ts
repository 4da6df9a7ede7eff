// The rows of a transaction import, batch by batch: validates them, compares them with the stored transactions, and stores the
// changes.

import { CanonicalRow } from '@offerbook/wire/canonical-row.ts';
import { printCountOf } from '@offerbook/wire/count.ts';
import type { FieldProblem, RawRow } from '@offerbook/wire/rows/raw-row.ts';
import type { FormatRules } from '@offerbook/wire/rows/read-rows.ts';
import { findDocumentExcess, TRANSACTION_LIMITS } from '@offerbook/wire/rows/row-limits.ts';
import {
  type CheckedRow,
  checkRow,
  printPlace,
  rejected,
  rowProblem,
} from '@offerbook/wire/rows/row-problem.ts';
import { UuidPlaces } from '@offerbook/wire/rows/uuid-places.ts';
import { printTimestamp, type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import {
  canonicalTransactionLine,
  canonicalTransactionRow,
  mayBecome,
  printTransaction,
  SOURCE_TIME_FIELD,
  TRANSACTION_COLUMNS,
  type Transaction,
  transactionRowSchema,
} from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { ClickId } from '../domain/click.ts';
import type { Organisation } from '../domain/organisation.ts';
import type {
  OrganisationWriter,
  PutTransaction,
  StoredTransaction,
  TransactionWriters,
} from '../domain/transaction.ts';
import {
  Attribution,
  type Attributor,
  CLICK_FIELD,
  NO_OWNER,
  type OwnedRow,
  type Row,
} from './attribution.ts';
import type { ImportOptions, ImportReport } from './import-report.ts';
import type { ImportRun } from './import-run.ts';
import { findNewSource, isOlder, type RowSource, sourceMs, sourceOf } from './row-source.ts';

export interface TransactionImportOptions extends ImportOptions {
  /** Loads history: rows keep the file's updatedAt, so polling clients may miss them. */
  readonly preserveUpdatedAt?: boolean | undefined;
  /** Set if the rows were pulled from a network. */
  readonly pulled?: PulledImport | undefined;
  /** Allows rows with a clickId. */
  readonly attributor?: Attributor | undefined;
}

/** Part of an import whose rows were pulled from a network. `finish` runs at the end of its transaction. */
export interface PulledImport {
  finish(writers: TransactionWriters, report: ImportReport): Promise<void>;
  /** Called with the id of every transaction that is added or changed. */
  onChange?(id: Uuid): void;
}

/** A source time further in the future than this must be a mistake. It would make all later versions stale. */
const SOURCE_AHEAD_MAX_MS = 86_400_000;

const NO_ORG = 'the rows have no clickId, and --org is missing; add --org with the organisation of the sales';

/** A sale must not be paid twice. The message must not identify the organisation that has the transaction. */
const USED: FieldProblem = { field: 'id', reason: 'belongs to another organisation' };

/** A batch of validated rows, and the transactions with the same ids that their organisations have stored. */
export interface LookedUp {
  readonly rows: readonly OwnedRow[];
  readonly stored: ReadonlyMap<Uuid, StoredTransaction>;
  /** Ids of rows that another organisation has stored. */
  readonly used: ReadonlySet<Uuid>;
}

export class TransactionLoad {
  /** Format of the rows. */
  readonly format: FormatRules;
  readonly #run: ImportRun;
  readonly #writers: TransactionWriters;
  readonly #orgId: number;
  readonly #nowMs: number;
  readonly #options: TransactionImportOptions;
  readonly #preserve: boolean;
  readonly #schema: ReturnType<typeof transactionRowSchema>;
  readonly #isCanonical: (value: unknown) => boolean;
  readonly #attribution: Attribution | undefined;
  readonly #seen = new UuidPlaces();
  /** Number of rows with erased users. */
  #erasedCount = 0;
  /** Number of decided sales that are pending again at their network. */
  #reopenedCount = 0;

  constructor(
    run: ImportRun,
    writers: TransactionWriters,
    org: Organisation | undefined,
    nowMs: number,
    options: TransactionImportOptions,
  ) {
    this.#run = run;
    this.#writers = writers;
    this.#orgId = org?.id ?? 0;
    this.#nowMs = nowMs;
    this.#options = options;
    this.#preserve = options.preserveUpdatedAt === true;
    const updatedAt = this.#preserve ? 'keep' : 'ignore';
    this.#schema = transactionRowSchema(options.ignoreUnknown === true ? 'ignore' : 'refuse', updatedAt);
    this.#isCanonical = canonicalTransactionRow(updatedAt);
    const { attributor } = options;
    this.#attribution =
      attributor && new Attribution(attributor, org, (orgId) => writers.of(orgId) !== undefined);
    this.format = {
      limits: TRANSACTION_LIMITS,
      columns: attributor ? new Map([...TRANSACTION_COLUMNS, [CLICK_FIELD, 'text']]) : TRANSACTION_COLUMNS,
      readLine: canonicalTransactionLine(updatedAt),
    };
  }

  async lookUp(batch: readonly RawRow[]): Promise<LookedUp> {
    const rows =
      this.#attribution === undefined
        ? batch.map((raw) => ({ checked: this.#check(raw), orgId: this.#orgId, click: undefined }))
        : await this.#attribution.attribute(batch, (raw) => this.#check(raw));
    const idsOf = new Map<number, Uuid[]>();
    for (const { checked, orgId } of rows)
      if (checked.value !== undefined) addTo(idsOf, orgId, checked.value.id);
    const stored = new Map<Uuid, StoredTransaction>();
    for (const [orgId, ids] of idsOf)
      for (const [id, found] of await this.#writer(orgId).find(ids)) stored.set(id, found);
    const added = [...idsOf.values()].flat().filter((id) => !stored.has(id));
    return { rows, stored, used: await this.#writers.findUsed(added) };
  }

  async take({ rows, stored, used }: LookedUp): Promise<void> {
    const changed = new Map<number, PutTransaction[]>();
    const sources = new Map<number, StoredTransaction[]>();
    const sold: ClickId[] = [];
    for (const { checked, orgId, click } of rows) {
      const { place, value, problems } = checked;
      if (problems !== undefined) {
        // Sales that are pulled without --org must have a click id, so --org is no remedy.
        const lacksOrg = problems[0]?.reason === NO_OWNER && this.#options.pulled === undefined;
        this.#run.reject(problems, lacksOrg ? NO_ORG : undefined);
        continue;
      }
      const existing = stored.get(value.id);
      const attributed = (click && this.#attribution?.complete(place, value, click, existing)) ?? value;
      const row = existing === undefined ? attributed : this.#withKept(attributed, existing);
      const outcome = used.has(row.id)
        ? USED
        : this.#judge(this.#withoutErased(row, orgId, existing), orgId, existing);
      if (outcome === 'unchanged' || outcome === 'stale') {
        this.#run.counts[outcome]++;
        const source = existing && findNewSource(row, existing);
        if (source !== undefined) addTo(sources, orgId, source);
      } else if ('reason' in outcome) this.#run.reject([rowProblem(place, outcome)]);
      else {
        this.#run.counts[existing === undefined ? 'added' : 'changed']++;
        addTo(changed, orgId, outcome);
        this.#options.pulled?.onChange?.(row.id);
        if (click?.record !== undefined) sold.push(click.record.id);
      }
    }
    if (!this.#run.isWriting) return;
    for (const [orgId, puts] of changed) await this.#writer(orgId).put(puts);
    for (const [orgId, rows] of sources) await this.#writer(orgId).putSources(rows);
    // Not part of the transaction: if the commit fails, these clicks are merely kept longer.
    if (sold.length > 0 && this.#options.dryRun !== true)
      await this.#options.attributor?.clicks.markSold(sold);
  }

  /** Adds notes to the report. */
  finish(): void {
    this.#run.notes.push(...(this.#attribution?.notes ?? []));
    this.#run.aside = this.#attribution?.unattributedCount ?? 0;
    for (const [count, noun, remark] of [
      [
        this.#run.counts.stale,
        'row',
        `with an older ${SOURCE_TIME_FIELD} than the stored transaction: not imported.`,
      ],
      [this.#reopenedCount, 'sale', 'decided earlier and pending again at the network: kept as decided.'],
      [this.#erasedCount, 'row', 'of users who were erased: imported without passbackUid and passbackData.'],
    ] as const)
      if (count > 0) this.#run.notes.push(`${printCountOf(count, noun)} ${remark}`);
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
    if ((sourceMs(row.value) ?? 0) > this.#nowMs + SOURCE_AHEAD_MAX_MS) {
      const problem = { field: SOURCE_TIME_FIELD, reason: 'must not be more than a day in the future' };
      return rejected(row.place, [problem]);
    }
    return row;
  }

  #checkFields(raw: RawRow): CheckedRow<Row> {
    if (raw.value instanceof CanonicalRow || (raw.problem === undefined && this.#isCanonical(raw.value))) {
      return { place: raw.place, value: raw.value as Row, problems: undefined };
    }
    return checkRow<Row>(raw, this.#schema);
  }

  /** Removes erased users from sales made before the erasure, because networks continue to send them. */
  #withoutErased(row: Row, orgId: number, existing: StoredTransaction | undefined): Row {
    if (row.passbackUid == null) return row;
    const erasedAtMs = this.#writer(orgId).erasedAtMs(row.passbackUid);
    if (erasedAtMs === undefined) return row;
    // An erased transaction stays erased, even if its sale time is after the erasure because of a wrong clock or time zone.
    const wasErased = existing !== undefined && parse(existing).passbackUid === null;
    if (!wasErased && timestampMs(row.soldAt) >= erasedAtMs) return row;
    this.#erasedCount++;
    return { ...row, passbackUid: null, passbackData: null };
  }

  /**
   * Keeps stored values that a pulled row has lost. Some networks send a declined sale without its amounts, or report a decided
   * sale as pending again.
   */
  #withKept(row: Row, existing: StoredTransaction): Row {
    if (this.#options.pulled === undefined || row.status === 'CONFIRMED') return row;
    const before = parse(existing);
    if (!mayBecome(before.status, row.status)) {
      this.#reopenedCount++;
      return { ...row, status: before.status };
    }
    if (row.status !== 'DECLINED') return row;
    return {
      ...row,
      orderValue: row.orderValue || before.orderValue,
      cashback: row.cashback || before.cashback,
      cashbackOfferId: row.cashbackOfferId ?? before.cashbackOfferId,
    };
  }

  /** Returns the transaction to store, why there is nothing to store, or why the row is invalid. */
  #judge(
    row: Row,
    orgId: number,
    existing: StoredTransaction | undefined,
  ): PutTransaction | 'unchanged' | 'stale' | FieldProblem {
    if (existing === undefined) return this.#stamp(row, orgId, sourceOf(row), undefined);
    const { document, updatedAtMs } = existing;
    const hasItsStamp = !this.#preserve || timestampMs(row.updatedAt as Timestamp) === updatedAtMs;
    if (hasItsStamp && printTransaction(row, printTimestamp(updatedAtMs)) === document) return 'unchanged';
    if (isOlder(row, existing)) return 'stale';
    const before = parse(existing);
    if (!mayBecome(before.status, row.status)) {
      return { field: 'status', reason: `must not change from ${before.status} back to ${row.status}` };
    }
    return this.#stamp(row, orgId, sourceOf(row, existing), before);
  }

  #stamp(
    row: Row,
    orgId: number,
    source: RowSource,
    replaces: Transaction | undefined,
  ): PutTransaction | FieldProblem {
    const { stamp, stampMs } = this.#writer(orgId);
    const updatedAt = this.#preserve ? (row.updatedAt as Timestamp) : stamp;
    const updatedAtMs = this.#preserve ? timestampMs(updatedAt) : stampMs;
    const document = printTransaction(row, updatedAt);
    return (
      findDocumentExcess(document, TRANSACTION_LIMITS) ?? {
        id: row.id,
        updatedAtMs,
        document,
        ...source,
        sale: row,
        replaces,
      }
    );
  }

  #writer(orgId: number): OrganisationWriter {
    const writer = this.#writers.of(orgId);
    if (writer === undefined) throw new Error(`organisation ${orgId} does not exist`);
    return writer;
  }
}

function parse({ document }: StoredTransaction): Transaction {
  return JSON.parse(document);
}

function addTo<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
