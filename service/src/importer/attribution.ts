// Whose sale it is. A row may have the id of a click in place of everything that the click knows: the record of the click
// gives the organisation, the user, the times and the deal. What the row says itself counts only where the record has
// nothing. Nothing is guessed: a row that no click of ours leads to is refused, or put aside to be looked at by a person.

import type { ClickIds, ClickOrigin } from '../activation/click-id.ts';
import type { ActivatedKind, Click, ClickId, ClickStore } from '../domain/click.ts';
import { printCount } from '../domain/count.ts';
import { printJson } from '../domain/decimal.ts';
import type { Organisation } from '../domain/stores.ts';
import { printTimestamp, timestampMs } from '../domain/timestamp.ts';
import type { UnstampedTransaction } from '../domain/transaction.ts';
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

/** A sale with its owner, what is wrong with it, or that it was put aside. */
export type Attributed<Row> =
  | { readonly kind: 'owned'; readonly orgId: number; readonly row: Row; readonly click: ClickId | undefined }
  | { readonly kind: 'bad'; readonly problem: FieldProblem }
  | { readonly kind: 'aside' };

export interface Claim<Row> {
  readonly place: Place;
  readonly row: Row;
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
  ) {
    this.#attributor = attributor;
    this.#org = org;
    this.#isOrganisation = isOrganisation;
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

  async attribute<Row extends UnstampedTransaction>(
    claims: readonly Claim<Row>[],
  ): Promise<Attributed<Row>[]> {
    const origins = claims.map(({ clickId }) =>
      typeof clickId === 'string' ? this.#attributor.ids.parse(clickId) : undefined,
    );
    const ids = [...new Set(origins.flatMap((origin) => (origin === undefined ? [] : [origin.id])))];
    const clicks = ids.length === 0 ? new Map<ClickId, Click>() : await this.#attributor.clicks.find(ids);
    const attributed = claims.map((claim, index) => this.#attributeOne(claim, origins[index], clicks));
    const aside = this.#aside.splice(0);
    if (aside.length > 0) await this.#attributor.aside?.put(aside);
    return attributed;
  }

  #attributeOne<Row extends UnstampedTransaction>(
    { place, row, clickId, raw }: Claim<Row>,
    origin: (ClickOrigin & { readonly id: ClickId }) | undefined,
    clicks: ReadonlyMap<ClickId, Click>,
  ): Attributed<Row> {
    if (clickId == null) {
      if (this.#org !== undefined) return { kind: 'owned', orgId: this.#org.id, row, click: undefined };
      return this.#disown(raw, 'is missing, and --org names no organisation');
    }
    if (origin === undefined) return this.#disown(raw, 'is not the id of a click of ours');
    if (this.#org !== undefined && origin.orgId !== this.#org.id)
      return { kind: 'bad', problem: { field: CLICK_FIELD, reason: 'belongs to another organisation' } };
    if (!this.#isOrganisation(origin.orgId)) return this.#disown(raw, 'is not the id of a click of ours');
    const click = clicks.get(origin.id);
    this.#remarkOn(place, row, origin, click);
    return {
      kind: 'owned',
      orgId: origin.orgId,
      row: click === undefined ? withTime(row, origin) : withClick(row, click),
      click: click?.id,
    };
  }

  #disown<Row>(raw: unknown, reason: string): Attributed<Row> {
    if (this.#attributor.aside === undefined) return { kind: 'bad', problem: { field: CLICK_FIELD, reason } };
    this.#aside.push(printJson(raw));
    this.#asideCount++;
    return { kind: 'aside' };
  }

  #remarkOn(
    place: Place,
    { soldAt }: UnstampedTransaction,
    { atMs }: ClickOrigin,
    click: Click | undefined,
  ): void {
    const remark = (words: string) => {
      this.#remarkCount++;
      if (this.#remarks.length < PROBLEMS_MAX) this.#remarks.push(`${printPlace(place)}: ${words}`);
    };
    if (click === undefined) {
      remark(
        'the record of its click is not here; the sale has its organisation and the time of the click only',
      );
    }
    const ageMs = timestampMs(soldAt) - atMs;
    // A click has milliseconds, and what networks tell of a sale often has not.
    if (ageMs < -1_000) remark('was sold before its click');
    if (ageMs > CLICK_AGE_MAX_DAYS * DAY_MS)
      remark(`was sold more than ${CLICK_AGE_MAX_DAYS} days after its click`);
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

function withTime<Row extends UnstampedTransaction>(row: Row, { atMs }: ClickOrigin): Row {
  return { ...row, activatedAt: printTimestamp(atMs) };
}

function withClick<Row extends UnstampedTransaction>(row: Row, click: Click): Row {
  const { kind, dealId, passbackUid, passbackData, activatedAtMs, clickedAtMs } = click;
  const field = DEAL_FIELDS[kind];
  return {
    ...row,
    clickedAt: clickedAtMs === null ? row.clickedAt : printTimestamp(clickedAtMs),
    activatedAt: printTimestamp(activatedAtMs),
    passbackUid,
    // Of a user who was erased, the row may not bring back either.
    passbackData: passbackUid === null ? null : (passbackData ?? row.passbackData),
    ...(field === undefined ? {} : { [field]: dealId }),
  };
}
