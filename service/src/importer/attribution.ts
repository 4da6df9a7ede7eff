// Attributes sales to clicks. If a row has a clickId, its organisation, user, times, deal and retailer come from the click
// record, or from the stored transaction if the record was deleted. The row's own values are used only if these sources have
// none. A row with an unknown click is rejected, or set aside for review.

import { printCount } from '@offerbook/wire/count.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import type { RawRow, RowPosition } from '@offerbook/wire/rows/raw-row.ts';
import { type CheckedRow, PROBLEMS_MAX, printPlace, rejected } from '@offerbook/wire/rows/row-problem.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { printTimestamp, type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import type {
  RETAILER_FIELD,
  SOURCE_TIME_FIELD,
  Transaction,
  UnstampedTransaction,
} from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { ClickIds, ClickOrigin } from '../activation/click-id.ts';
import type { ActivatedKind, Click, ClickId, ClickStore } from '../domain/click.ts';
import type { Organisation } from '../domain/organisation.ts';
import type { StoredTransaction } from '../domain/transaction.ts';

export const CLICK_FIELD = 'clickId';
/** The problem of a row without a click id in an import without an organisation. */
export const NO_OWNER = 'is missing, and --org is not set';

/** A longer delay between click and sale is noted in the import report. */
const CLICK_AGE_MAX_DAYS = 120;

export interface Attributor {
  readonly ids: ClickIds;
  readonly clicks: ClickStore;
  /** If undefined, every row needs a clickId. */
  readonly org: Organisation | undefined;
  /** Receives the rows with unknown clicks. If undefined, the import rejects such rows. */
  readonly unattributed?: UnattributedRows | undefined;
}

/** Where sales with an unknown click go: the --unattributed file. */
export interface UnattributedRows {
  put(rows: readonly string[]): Promise<void>;
  /** Makes the rows durable. Called once, before the import commits. */
  keep(): Promise<void>;
}

/** The contents of a row's click id, and the click record if it still exists. */
interface NamedClick {
  readonly origin: ClickOrigin;
  readonly record: Click | undefined;
}

/** A row that passed the schema. Only rows of a history load have a valid updatedAt. */
export type Row = UnstampedTransaction & {
  readonly updatedAt?: unknown;
  readonly [SOURCE_TIME_FIELD]?: Timestamp | null | undefined;
  readonly [RETAILER_FIELD]?: Uuid | null | undefined;
};

/** A validated row with its owner and click. Ignore the owner and the click if the row is invalid. */
export interface OwnedRow {
  readonly checked: CheckedRow<Row>;
  readonly orgId: number;
  readonly click: NamedClick | undefined;
}

const DEAL_FIELDS: Partial<Record<ActivatedKind, 'cashbackOfferId' | 'couponId' | 'promotionId'>> = {
  cashbackOffers: 'cashbackOfferId',
  coupons: 'couponId',
  promotions: 'promotionId',
};

export function attributionOf(
  { ids, clicks, org, unattributed }: Attributor,
  isOrganisation: (orgId: number) => boolean,
) {
  const remarks: string[] = [];
  let remarkCount = 0;
  let unattributedCount = 0;

  function remark(place: RowPosition, message: string): void {
    remarkCount++;
    if (remarks.length < PROBLEMS_MAX) remarks.push(`${printPlace(place)}: ${message}`);
  }

  function remarkOnAge(place: RowPosition, { soldAt }: UnstampedTransaction, { atMs }: ClickOrigin): void {
    const ageMs = timestampMs(soldAt) - atMs;
    // Many networks truncate sale times to seconds; click times have milliseconds.
    if (ageMs < -1_000) remark(place, 'was sold before its click');
    if (ageMs > CLICK_AGE_MAX_DAYS * DAY_MS)
      remark(place, `took place more than ${CLICK_AGE_MAX_DAYS} days after its click`);
  }

  /** Returns why a row has no owner, and whether it may be set aside. */
  function findProblem(clickId: unknown, origin: ClickOrigin | undefined) {
    const mayBeAside = true;
    if (clickId == null) return org === undefined ? { reason: NO_OWNER, mayBeAside } : undefined;
    if (origin !== undefined && org !== undefined && origin.orgId !== org.id)
      return { reason: 'belongs to another organisation', mayBeAside: false };
    if (origin === undefined || !isOrganisation(origin.orgId))
      return { reason: 'is not a click id of this installation', mayBeAside };
    return undefined;
  }

  return {
    get unattributedCount() {
      return unattributedCount;
    },

    get notes(): string[] {
      const more = remarkCount - remarks.length;
      return [...remarks, ...(more > 0 ? [`… and ${printCount(more)} more notes of this kind`] : [])];
    },

    /** Finds the owner of each row. The result omits rows that are set aside. */
    async attribute(rows: readonly RawRow[], check: (raw: RawRow) => CheckedRow<Row>): Promise<OwnedRow[]> {
      const claims = rows.map((raw) => {
        const { rest, clickId } = splitClick(raw);
        const checked = check(rest);
        const isReadable = typeof clickId === 'string' && checked.value !== undefined;
        return { raw, clickId, checked, origin: isReadable ? ids.parse(clickId) : undefined };
      });
      const named = [...new Set(claims.flatMap(({ origin }) => origin?.id ?? []))];
      const records = named.length === 0 ? new Map<ClickId, Click>() : await clicks.find(named);
      const owned: OwnedRow[] = [];
      const aside: string[] = [];
      for (const { raw, clickId, checked, origin } of claims) {
        const problem = checked.value && findProblem(clickId, origin);
        if (problem === undefined) {
          const click = origin && { origin, record: records.get(origin.id) };
          owned.push({ checked, orgId: origin?.orgId ?? org?.id ?? 0, click });
        } else if (problem.mayBeAside && unattributed !== undefined) {
          aside.push(printJson(raw.value));
        } else {
          const { reason } = problem;
          const refused = rejected(checked.place, [{ field: CLICK_FIELD, reason }]);
          owned.push({ checked: refused, orgId: 0, click: undefined });
        }
      }
      unattributedCount += aside.length;
      if (aside.length > 0) await unattributed?.put(aside);
      return owned;
    },

    /** Completes a row from its click record or, if the record was deleted, from the stored transaction. */
    complete(
      place: RowPosition,
      row: Row,
      { origin, record }: NamedClick,
      stored: StoredTransaction | undefined,
    ): Row {
      const activatedAt = printTimestamp(record?.activatedAtMs ?? origin.atMs);
      const before = record === undefined ? findBefore(stored, origin) : undefined;
      if (record === undefined) {
        const known =
          before === undefined
            ? 'only the organisation and the click time are known'
            : 'the sale keeps its stored user, time and deal';
        remark(place, `the click record no longer exists; ${known}`);
      }
      remarkOnAge(place, row, origin);
      if (record !== undefined) return withRecord(row, record, activatedAt);
      return before === undefined ? { ...row, activatedAt } : withBefore(row, before, activatedAt);
    },
  };
}

/** Splits a row into its clickId and the fields that the schema validates. */
function splitClick(raw: RawRow): { rest: RawRow; clickId: unknown } {
  const { value } = raw;
  if (typeof value !== 'object' || value === null || !(CLICK_FIELD in value))
    return { rest: raw, clickId: undefined };
  const { [CLICK_FIELD]: clickId, ...rest } = value;
  return { rest: { ...raw, value: rest }, clickId };
}

/** Returns the stored transaction if it came from this click. */
function findBefore(stored: StoredTransaction | undefined, { atMs }: ClickOrigin): Transaction | undefined {
  if (stored === undefined) return undefined;
  const before: Transaction = JSON.parse(stored.document);
  return before.activatedAt !== null && timestampMs(before.activatedAt) === atMs ? before : undefined;
}

function withRecord(
  row: Row,
  { kind, dealId, retailerId, passbackUid, passbackData, clickedAtMs }: Click,
  activatedAt: Timestamp,
): Row {
  const field = DEAL_FIELDS[kind];
  return {
    ...row,
    clickedAt: clickedAtMs === null ? row.clickedAt : printTimestamp(clickedAtMs),
    activatedAt,
    passbackUid,
    // If the user was erased, the row must not restore the user's data.
    passbackData: passbackUid === null ? null : (passbackData ?? row.passbackData),
    retailerId,
    ...(field === undefined ? {} : { [field]: dealId }),
  };
}

/** Keeps the stored user, even if it is null: the user may have been erased. */
function withBefore(row: Row, before: Transaction, activatedAt: Timestamp): Row {
  const { passbackUid, passbackData } = before;
  return {
    ...{ ...row, activatedAt, passbackUid, passbackData },
    clickedAt: before.clickedAt ?? row.clickedAt,
    cashbackOfferId: before.cashbackOfferId ?? row.cashbackOfferId,
    couponId: before.couponId ?? row.couponId,
    promotionId: before.promotionId ?? row.promotionId,
  };
}
