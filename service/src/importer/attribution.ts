// Whose sale it is. A row may have the id of a click in place of everything that the click knows: the record of the click
// gives the organisation, the user, the times and the deal. What the row says itself counts only where the record has
// nothing. Where the record is gone, the transaction that is stored takes its place. Nothing is guessed: a row that no
// click of ours leads to is refused, or put aside to be looked at by a person.

import { printCount } from '@offerbook/wire/count.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import type { Place, RawRow } from '@offerbook/wire/rows/raw-row.ts';
import { type CheckedRow, PROBLEMS_MAX, printPlace, rejected } from '@offerbook/wire/rows/row-problem.ts';
import { printTimestamp, type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import type {
  SOURCE_TIME_FIELD,
  Transaction,
  TransactionFormat,
  UnstampedTransaction,
} from '@offerbook/wire/transaction.ts';
import type { ClickIds, ClickOrigin } from '../activation/click-id.ts';
import type { ActivatedKind, Click, ClickId, ClickStore } from '../domain/click.ts';
import type { Organisation } from '../domain/organisation.ts';
import type { StoredTransaction } from '../domain/transaction.ts';

export const CLICK_FIELD = 'clickId';

/** A sale so long after its click is worth a look. */
const CLICK_AGE_MAX_DAYS = 120;
const DAY_MS = 86_400_000;

export interface Attributor {
  readonly ids: ClickIds;
  readonly clicks: Pick<ClickStore, 'find' | 'markSold'>;
  /** Without it, rows that no click of ours leads to are refused. */
  readonly aside?: Aside | undefined;
}

/** Takes rows that no click of ours leads to. */
export interface Aside {
  put(rows: readonly string[]): Promise<void>;
  /** Called once, before the import is kept: a row that was put here must not be lost then. */
  keep(): Promise<void>;
}

/** The click that a row names: what its id tells, and its record if that is here. */
interface NamedClick {
  readonly origin: ClickOrigin & { readonly id: ClickId };
  readonly record: Click | undefined;
}

/** A row that passed the schema. Its updatedAt is there only in a history load. */
export type Row = UnstampedTransaction & {
  readonly updatedAt?: unknown;
  readonly [SOURCE_TIME_FIELD]?: Timestamp | null | undefined;
};

/** A checked row with its owner, and the click that it names. Of a bad row, nobody asks for either. */
export interface OwnedRow {
  readonly checked: CheckedRow<Row>;
  readonly orgId: number;
  readonly click: NamedClick | undefined;
}

interface Claim {
  /** As it stood in the file. */
  readonly raw: RawRow;
  /** As the row gives it; undefined when it has none. */
  readonly clickId: unknown;
  readonly checked: CheckedRow<Row>;
}

const DEAL_FIELDS: Partial<Record<ActivatedKind, 'cashbackOfferId' | 'couponId' | 'promotionId'>> = {
  cashbackOffers: 'cashbackOfferId',
  coupons: 'couponId',
  promotions: 'promotionId',
};

export class Attribution {
  /** How many rows were put aside. */
  asideCount = 0;
  readonly #attributor: Attributor;
  readonly #org: Organisation | undefined;
  readonly #isOrganisation: (orgId: number) => boolean;
  readonly #format: TransactionFormat;
  readonly #remarks: string[] = [];
  #remarkCount = 0;
  /** Of this batch. */
  #aside: string[] = [];

  /** Without an organisation, every row needs a click. */
  constructor(
    attributor: Attributor,
    org: Organisation | undefined,
    isOrganisation: (orgId: number) => boolean,
    format: TransactionFormat,
  ) {
    this.#attributor = attributor;
    this.#org = org;
    this.#isOrganisation = isOrganisation;
    this.#format = format;
  }

  /** What the person who imports should read. */
  get notes(): string[] {
    const more = this.#remarkCount - this.#remarks.length;
    return [...this.#remarks, ...(more > 0 ? [`… and ${printCount(more)} more such remarks`] : [])];
  }

  /** Finds the owners of rows. Those that are put aside are left out. */
  async attribute(rows: readonly RawRow[], check: (raw: RawRow) => CheckedRow<Row>): Promise<OwnedRow[]> {
    const claims = rows.map((raw) => {
      const { rest, clickId } = splitClick(raw);
      return { raw, clickId, checked: check(rest) };
    });
    const origins = claims.map(({ clickId, checked }) =>
      typeof clickId === 'string' && checked.value !== undefined
        ? this.#attributor.ids.parse(clickId)
        : undefined,
    );
    const ids = [...new Set(origins.flatMap((origin) => origin?.id ?? []))];
    const records = ids.length === 0 ? new Map<ClickId, Click>() : await this.#attributor.clicks.find(ids);
    const owned = claims.flatMap((claim, index) => this.#findOwner(claim, origins[index], records) ?? []);
    const aside = this.#aside.splice(0);
    if (aside.length > 0) await this.#attributor.aside?.put(aside);
    return owned;
  }

  /** The row with what its click knows, given what is stored under its id. */
  complete(
    place: Place,
    row: Row,
    { origin, record }: NamedClick,
    stored: StoredTransaction | undefined,
  ): Row {
    const activatedAt = printTimestamp(record?.activatedAtMs ?? origin.atMs);
    const before = record === undefined ? this.#findBefore(stored, origin) : undefined;
    if (record === undefined) {
      this.#remark(
        place,
        before === undefined
          ? 'the record of its click is not here; the sale has its organisation and the time of the click only'
          : 'the record of its click is not here; the sale keeps the user, the time and the deal that it has',
      );
    }
    this.#remarkOnAge(place, row, origin);
    if (record !== undefined) return withRecord(row, record, activatedAt);
    return before === undefined ? { ...row, activatedAt } : withBefore(row, before, activatedAt);
  }

  /** The transaction as it is stored, if it is of this click. */
  #findBefore(stored: StoredTransaction | undefined, { orgId, atMs }: ClickOrigin): Transaction | undefined {
    if (stored?.orgId !== orgId) return undefined;
    const before = this.#format.parseStored(stored.document);
    return before.activatedAt !== null && timestampMs(before.activatedAt) === atMs ? before : undefined;
  }

  #findOwner(
    claim: Claim,
    origin: NamedClick['origin'] | undefined,
    records: ReadonlyMap<ClickId, Click>,
  ): OwnedRow | undefined {
    const { clickId, checked } = claim;
    if (checked.value === undefined) return { checked, orgId: 0, click: undefined };
    if (clickId == null) {
      if (this.#org !== undefined) return { checked, orgId: this.#org.id, click: undefined };
      return this.#disown(claim, 'is missing, and --org names no organisation');
    }
    if (origin === undefined) return this.#disown(claim, 'is not the id of a click of ours');
    if (this.#org !== undefined && origin.orgId !== this.#org.id)
      return refused(claim, 'belongs to another organisation');
    if (!this.#isOrganisation(origin.orgId)) return this.#disown(claim, 'is not the id of a click of ours');
    return { checked, orgId: origin.orgId, click: { origin, record: records.get(origin.id) } };
  }

  #disown(claim: Claim, reason: string): OwnedRow | undefined {
    if (this.#attributor.aside === undefined) return refused(claim, reason);
    this.#aside.push(printJson(claim.raw.value));
    this.asideCount++;
    return undefined;
  }

  #remarkOnAge(place: Place, { soldAt }: UnstampedTransaction, { atMs }: ClickOrigin): void {
    const ageMs = timestampMs(soldAt) - atMs;
    // A click has milliseconds, and what networks tell of a sale often has not.
    if (ageMs < -1_000) this.#remark(place, 'was sold before its click');
    if (ageMs > CLICK_AGE_MAX_DAYS * DAY_MS)
      this.#remark(place, `was sold more than ${CLICK_AGE_MAX_DAYS} days after its click`);
  }

  #remark(place: Place, words: string): void {
    this.#remarkCount++;
    if (this.#remarks.length < PROBLEMS_MAX) this.#remarks.push(`${printPlace(place)}: ${words}`);
  }
}

function refused({ checked }: Claim, reason: string): OwnedRow {
  const problem = { field: CLICK_FIELD, reason };
  return { checked: rejected(checked.place, [problem]), orgId: 0, click: undefined };
}

/** Splits a row into what is checked like any other, and the click. */
function splitClick(raw: RawRow): { rest: RawRow; clickId: unknown } {
  const { value } = raw;
  if (typeof value !== 'object' || value === null || !(CLICK_FIELD in value))
    return { rest: raw, clickId: undefined };
  const { [CLICK_FIELD]: clickId, ...rest } = value;
  return { rest: { ...raw, value: rest }, clickId };
}

function withRecord(
  row: Row,
  { kind, dealId, passbackUid, passbackData, clickedAtMs }: Click,
  activatedAt: Timestamp,
): Row {
  const field = DEAL_FIELDS[kind];
  return {
    ...row,
    clickedAt: clickedAtMs === null ? row.clickedAt : printTimestamp(clickedAtMs),
    activatedAt,
    passbackUid,
    // Of a user who was erased, the row may not bring back either.
    passbackData: passbackUid === null ? null : (passbackData ?? row.passbackData),
    ...(field === undefined ? {} : { [field]: dealId }),
  };
}

/** The user stays as stored, even where there is none: that may be one who was erased. */
function withBefore(
  row: Row,
  { clickedAt, passbackUid, passbackData, cashbackOfferId, couponId, promotionId }: Transaction,
  activatedAt: Timestamp,
): Row {
  return {
    ...row,
    clickedAt: clickedAt ?? row.clickedAt,
    activatedAt,
    passbackUid,
    passbackData,
    cashbackOfferId: cashbackOfferId ?? row.cashbackOfferId,
    couponId: couponId ?? row.couponId,
    promotionId: promotionId ?? row.promotionId,
  };
}
