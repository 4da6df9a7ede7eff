// Whose sale it is. A row may have the id of a click in place of everything that the click knows: the record of the click
// gives the organisation, the user, the times and the deal. What the row says itself counts only where the record has
// nothing. Where the record is gone, the transaction that is stored takes its place. Nothing is guessed: a row that no
// click of ours leads to is refused, or put aside to be looked at by a person.

import type { ClickIds, ClickOrigin } from '../activation/click-id.ts';
import type { ActivatedKind, Click, ClickId, ClickStore } from '../domain/click.ts';
import { printCount } from '../domain/count.ts';
import { printJson } from '../domain/decimal.ts';
import type { Organisation, StoredTransaction } from '../domain/stores.ts';
import { printTimestamp, type Timestamp, timestampMs } from '../domain/timestamp.ts';
import type { Transaction, TransactionFormat, UnstampedTransaction } from '../domain/transaction.ts';
import { PROBLEMS_MAX, printPlace } from './checks/row-problem.ts';
import type { FieldProblem, Place, RawRow } from './formats/raw-row.ts';

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
export interface NamedClick {
  readonly origin: ClickOrigin & { readonly id: ClickId };
  readonly record: Click | undefined;
}

/** Whose a row is, what is wrong with it, or that it was put aside. */
export type Attributed =
  | { readonly kind: 'owned'; readonly orgId: number; readonly click: NamedClick | undefined }
  | { readonly kind: 'bad'; readonly problem: FieldProblem }
  | { readonly kind: 'aside' };

export interface Claim {
  /** As the row gives it; undefined when it has none. */
  readonly clickId: unknown;
  /** The row as it stood in the file. */
  readonly raw: unknown;
}

const DEAL_FIELDS: Partial<Record<ActivatedKind, 'cashbackOfferId' | 'couponId' | 'promotionId'>> = {
  cashbackOffers: 'cashbackOfferId',
  coupons: 'couponId',
  promotions: 'promotionId',
};

export class Attribution {
  readonly #attributor: Attributor;
  readonly #org: Organisation | undefined;
  readonly #isOrganisation: (orgId: number) => boolean;
  readonly #format: TransactionFormat;
  readonly #remarks: string[] = [];
  #remarkCount = 0;
  /** Of this batch. */
  #aside: string[] = [];
  #asideCount = 0;

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

  /** How many rows were put aside. */
  get asideCount(): number {
    return this.#asideCount;
  }

  /** What the person who imports should read. */
  get notes(): string[] {
    const more = this.#remarkCount - this.#remarks.length;
    return [...this.#remarks, ...(more > 0 ? [`… and ${printCount(more)} more such remarks`] : [])];
  }

  /** Finds the owners of rows, in their order. */
  async attribute(claims: readonly Claim[]): Promise<Attributed[]> {
    const origins = claims.map(({ clickId }) =>
      typeof clickId === 'string' ? this.#attributor.ids.parse(clickId) : undefined,
    );
    const ids = [...new Set(origins.flatMap((origin) => (origin === undefined ? [] : [origin.id])))];
    const records = ids.length === 0 ? new Map<ClickId, Click>() : await this.#attributor.clicks.find(ids);
    const attributed = claims.map((claim, index) => this.#attributeOne(claim, origins[index], records));
    const aside = this.#aside.splice(0);
    if (aside.length > 0) await this.#attributor.aside?.put(aside);
    return attributed;
  }

  /** The row with what its click knows, given what is stored under its id. */
  complete<Row extends UnstampedTransaction>(
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

  #attributeOne(
    { clickId, raw }: Claim,
    origin: NamedClick['origin'] | undefined,
    records: ReadonlyMap<ClickId, Click>,
  ): Attributed {
    if (clickId == null) {
      if (this.#org !== undefined) return { kind: 'owned', orgId: this.#org.id, click: undefined };
      return this.#disown(raw, 'is missing, and --org names no organisation');
    }
    if (origin === undefined) return this.#disown(raw, 'is not the id of a click of ours');
    if (this.#org !== undefined && origin.orgId !== this.#org.id)
      return { kind: 'bad', problem: { field: CLICK_FIELD, reason: 'belongs to another organisation' } };
    if (!this.#isOrganisation(origin.orgId)) return this.#disown(raw, 'is not the id of a click of ours');
    return { kind: 'owned', orgId: origin.orgId, click: { origin, record: records.get(origin.id) } };
  }

  #disown(raw: unknown, reason: string): Attributed {
    if (this.#attributor.aside === undefined) return { kind: 'bad', problem: { field: CLICK_FIELD, reason } };
    this.#aside.push(printJson(raw));
    this.#asideCount++;
    return { kind: 'aside' };
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

/** Splits a row into what is checked like any other, and the click. */
export function splitClick(raw: RawRow): { rest: RawRow; clickId: unknown } {
  const { value } = raw;
  if (typeof value !== 'object' || value === null || !(CLICK_FIELD in value))
    return { rest: raw, clickId: undefined };
  const { [CLICK_FIELD]: clickId, ...rest } = value;
  return { rest: { ...raw, value: rest }, clickId };
}

function withRecord<Row extends UnstampedTransaction>(
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
function withBefore<Row extends UnstampedTransaction>(
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
