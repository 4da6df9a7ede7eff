// The rows of a transaction import, batch by batch: validates them, compares them with the stored transactions, and stores the
// changes.

import { CanonicalRow } from '@offerbook/wire/canonical-row.ts';
import { printCountOf } from '@offerbook/wire/count.ts';
import type { FieldProblem, RawRow, RowPosition } from '@offerbook/wire/rows/raw-row.ts';
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
import { DAY_MS } from '@offerbook/wire/time.ts';
import { printTimestamp, type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import {
  canonicalTransactionLine,
  mayBecome,
  printTransaction,
  RETAILER_FIELD,
  SOURCE_TIME_FIELD,
  TRANSACTION_COLUMNS,
  type Transaction,
  transactionRowSchema,
} from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { ClickId } from '../domain/click.ts';
import type {
  OrganisationWriter,
  PutTransaction,
  StoredTransaction,
  TransactionWriters,
} from '../domain/transaction.ts';
import {
  type Attributor,
  attributionOf,
  CLICK_FIELD,
  NO_OWNER,
  type OwnedRow,
  type Row,
  type UnattributedRows,
} from './attribution.ts';
import type { ImportOptions, ImportReport } from './import-report.ts';
import type { ImportRun } from './import-run.ts';

export interface TransactionImportOptions extends ImportOptions {
  /** Loads history: rows keep the file's updatedAt, so polling clients may miss them. */
  readonly preserveUpdatedAt?: boolean | undefined;
  /** Set if the rows were pulled from a network. */
  readonly pulled?:
    | {
        /** Runs at the end of the import's transaction. */
        finish(writers: TransactionWriters, report: ImportReport): Promise<void>;
        /** Called with the id of every transaction that is added or changed. */
        readonly onChange?: ((id: Uuid) => void) | undefined;
      }
    | undefined;
  /** Receives the rows with unknown clicks. If undefined, the import rejects such rows. */
  readonly unattributed?: UnattributedRows | undefined;
}

/** A source time further in the future than this must be a mistake. It would make all later versions stale. */
const SOURCE_AHEAD_MAX_MS = DAY_MS;

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

/** `nowMs` is the time of the import. */
export function transactionLoad(
  run: ImportRun,
  writers: TransactionWriters,
  attributor: Attributor,
  nowMs: number,
  options: TransactionImportOptions,
) {
  const { pulled, preserveUpdatedAt: preserve = false } = options;
  const updatedAtRule = preserve ? 'keep' : 'ignore';
  const schema = transactionRowSchema(options.ignoreUnknown === true ? 'ignore' : 'refuse', updatedAtRule);
  const attribution = attributionOf(attributor, (id) => writers.of(id) !== undefined);
  const seen = new UuidPlaces();
  /** Number of rows with erased users. */
  let erasedCount = 0;
  /** Number of decided sales that are pending again at their network. */
  let reopenedCount = 0;

  function check(raw: RawRow): CheckedRow<Row> {
    const row: CheckedRow<Row> =
      raw.value instanceof CanonicalRow
        ? { place: raw.place, value: raw.value as unknown as Row, problems: undefined }
        : checkRow<Row>(raw, schema);
    const problem = row.value && findProblem(row.value, row.place);
    return problem === undefined ? row : rejected(row.place, [problem]);
  }

  /** Checks what the schema cannot. */
  function findProblem(row: Row, place: RowPosition): FieldProblem | undefined {
    const first = seen.add(row.id, place);
    if (first !== undefined) return { field: 'id', reason: `was already used on ${printPlace(first)}` };
    if (preserve && timestampMs(row.updatedAt as Timestamp) > nowMs)
      return { field: 'updatedAt', reason: 'must not be in the future' };
    if ((sourceMs(row) ?? 0) > nowMs + SOURCE_AHEAD_MAX_MS)
      return { field: SOURCE_TIME_FIELD, reason: 'must not be more than a day in the future' };
    return undefined;
  }

  function writerOf(orgId: number): OrganisationWriter {
    const writer = writers.of(orgId);
    if (writer === undefined) throw new Error(`organisation ${orgId} does not exist`);
    return writer;
  }

  /** Removes erased users from sales made before the erasure, because networks continue to send them. */
  function withoutErased(row: Row, orgId: number, existing: StoredTransaction | undefined): Row {
    if (row.passbackUid == null) return row;
    const erasedAtMs = writerOf(orgId).erasedAtMs(row.passbackUid);
    if (erasedAtMs === undefined) return row;
    // An erased transaction stays erased, even if its sale time is after the erasure because of a wrong clock or time zone.
    const wasErased = existing !== undefined && parse(existing).passbackUid === null;
    if (!wasErased && timestampMs(row.soldAt) >= erasedAtMs) return row;
    erasedCount++;
    return { ...row, passbackUid: null, passbackData: null };
  }

  /**
   * Keeps stored values that a pulled row has lost. Some networks send a declined sale without its amounts, or report a decided
   * sale as pending again.
   */
  function withKept(row: Row, existing: StoredTransaction): Row {
    if (pulled === undefined || row.status === 'CONFIRMED') return row;
    const before = parse(existing);
    if (!mayBecome(before.status, row.status)) {
      reopenedCount++;
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
  function judge(
    row: Row,
    orgId: number,
    existing: StoredTransaction | undefined,
  ): PutTransaction | 'unchanged' | 'stale' | FieldProblem {
    let replaces: Transaction | undefined;
    if (existing !== undefined) {
      const { document, updatedAtMs } = existing;
      const hasItsStamp = !preserve || timestampMs(row.updatedAt as Timestamp) === updatedAtMs;
      if (hasItsStamp && printTransaction(row, printTimestamp(updatedAtMs)) === document) return 'unchanged';
      if (isOlder(row, existing)) return 'stale';
      replaces = parse(existing);
      if (!mayBecome(replaces.status, row.status))
        return { field: 'status', reason: `must not change from ${replaces.status} back to ${row.status}` };
    }
    const { stamp, stampMs } = writerOf(orgId);
    const updatedAt = preserve ? (row.updatedAt as Timestamp) : stamp;
    const updatedAtMs = preserve ? timestampMs(updatedAt) : stampMs;
    const document = printTransaction(row, updatedAt);
    const put = { id: row.id, updatedAtMs, document, ...sourceOf(row, existing), sale: row, replaces };
    return findDocumentExcess(document, TRANSACTION_LIMITS) ?? put;
  }

  const format: FormatRules = {
    limits: TRANSACTION_LIMITS,
    columns: new Map([...TRANSACTION_COLUMNS, [CLICK_FIELD, 'text']]),
    readLine: canonicalTransactionLine(updatedAtRule),
  };

  return {
    format,

    async lookUp(batch: readonly RawRow[]): Promise<LookedUp> {
      const rows = await attribution.attribute(batch, check);
      const idsOf = new Map<number, Uuid[]>();
      for (const { checked, orgId } of rows)
        if (checked.value !== undefined) idsOf.getOrInsertComputed(orgId, () => []).push(checked.value.id);
      const stored = new Map<Uuid, StoredTransaction>();
      for (const [orgId, ids] of idsOf)
        for (const [id, found] of await writerOf(orgId).find(ids)) stored.set(id, found);
      const added = [...idsOf.values()].flat().filter((id) => !stored.has(id));
      return { rows, stored, used: await writers.findUsed(added) };
    },

    async add({ rows, stored, used }: LookedUp): Promise<void> {
      const changed = new Map<number, PutTransaction[]>();
      const sources = new Map<number, StoredTransaction[]>();
      const sold: ClickId[] = [];
      for (const { checked, orgId, click } of rows) {
        const { place, value, problems } = checked;
        if (problems !== undefined) {
          // Sales that are pulled without --org must have a click id, so --org is no remedy.
          const lacksOrg = problems[0]?.reason === NO_OWNER && pulled === undefined;
          run.reject(problems, lacksOrg ? NO_ORG : undefined);
          continue;
        }
        const existing = stored.get(value.id);
        const attributed = click === undefined ? value : attribution.complete(place, value, click, existing);
        const row = existing === undefined ? attributed : withKept(attributed, existing);
        const outcome = used.has(row.id) ? USED : judge(withoutErased(row, orgId, existing), orgId, existing);
        if (outcome === 'unchanged' || outcome === 'stale') {
          run.counts[outcome]++;
          const source = existing && findNewSource(row, existing);
          if (source !== undefined) sources.getOrInsertComputed(orgId, () => []).push(source);
        } else if ('reason' in outcome) run.reject([rowProblem(place, outcome)]);
        else {
          run.counts[existing === undefined ? 'added' : 'changed']++;
          changed.getOrInsertComputed(orgId, () => []).push(outcome);
          pulled?.onChange?.(row.id);
          if (click?.record !== undefined) sold.push(click.record.id);
        }
      }
      if (!run.isWriting) return;
      for (const [orgId, puts] of changed) await writerOf(orgId).put(puts);
      for (const [orgId, rows] of sources) await writerOf(orgId).putSources(rows);
      // Not part of the transaction: if the commit fails, these clicks are merely kept longer.
      if (sold.length > 0 && options.dryRun !== true) await attributor.clicks.markSold(sold);
    },

    finish(): void {
      run.notes.push(...attribution.notes);
      run.aside = attribution.unattributedCount;
      const older = `with an older ${SOURCE_TIME_FIELD} than the stored transaction`;
      for (const [count, noun, remark] of [
        [run.counts.stale, 'row', `${older}: not imported.`],
        [reopenedCount, 'sale', 'decided earlier and pending again at the network: kept as decided.'],
        [erasedCount, 'row', 'of users who were erased: imported without passbackUid and passbackData.'],
      ] as const)
        if (count > 0) run.notes.push(`${printCountOf(count, noun)} ${remark}`);
    },
  };
}

function parse({ document }: StoredTransaction): Transaction {
  return JSON.parse(document);
}

/** When the source of the row last changed it; null if unknown. */
function sourceMs(row: Row): number | null {
  const time = row[SOURCE_TIME_FIELD];
  return time == null ? null : timestampMs(time);
}

/** The fields of a row that are stored beside its document. Keeps the stored values of fields that the row does not have. */
function sourceOf(row: Row, existing?: StoredTransaction) {
  return {
    sourceUpdatedAtMs: sourceMs(row) ?? existing?.sourceUpdatedAtMs ?? null,
    retailerId: row[RETAILER_FIELD] ?? existing?.retailerId ?? null,
  };
}

/**
 * Returns the transaction to store if only the row's source fields have changed; undefined if they have not changed or are
 * older.
 */
function findNewSource(row: Row, existing: StoredTransaction): StoredTransaction | undefined {
  if (isOlder(row, existing)) return undefined;
  const { sourceUpdatedAtMs, retailerId } = sourceOf(row, existing);
  const isSame = sourceUpdatedAtMs === existing.sourceUpdatedAtMs && retailerId === existing.retailerId;
  return isSame ? undefined : { ...existing, sourceUpdatedAtMs, retailerId };
}

function isOlder(row: Row, { sourceUpdatedAtMs }: StoredTransaction): boolean {
  const rowMs = sourceMs(row);
  return rowMs !== null && sourceUpdatedAtMs !== null && rowMs < sourceUpdatedAtMs;
}
